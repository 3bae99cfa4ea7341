// A time in words, to three figures.
export const timed = (s) =>
  s < 1e-3 ? `${+(1e6 * s).toPrecision(3)} µs` : s < 1 ? `${+(1e3 * s).toPrecision(3)} ms` : `${+s.toPrecision(3)} s`;
