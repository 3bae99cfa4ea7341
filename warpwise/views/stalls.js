// What a warp does in a clock, in the order of the stopwatch's numbers (stopwatch/engine.py): Nsight
// Compute's word for it, what the warp waits for, the look of its mark with the words of the
// legend, and the mark's height as a share of the row.
const FIXED = ["grey", "wait, branch resolving: a few clocks always", 0.25];
const FULL = ["three", "throttle: a pipe or a queue is full", 0.5];
const MEMORY = ["hatched", "long scoreboard: data from memory", 0.7];
const NEAR = ["two", "short scoreboard: data from the SM", 0.5];
export const DOES = [
  ["wait", "a fixed number of clocks", ...FIXED],
  ["long scoreboard", "data from global or local memory", ...MEMORY],
  ["short scoreboard", "shared memory or a special function", ...NEAR],
  ["barrier", "the other warps of its block", "four", "barrier: other warps", 0.35],
  ["math pipe throttle", "an arithmetic pipe that is busy", ...FULL],
  ["LG throttle", "room in the queue to global memory", ...FULL],
  ["MIO throttle", "room in the queue of the load/store units", ...FULL],
  ["branch resolving", "a branch's target", ...FIXED],
  ["not selected", "its turn", "ready", "not selected: ready, another issues", 1],
  ["its block starts", "its first instruction", "empty", "its block starts", 0.25],
  ["issues", "", "one", "issues an instruction", 1],
];
export const ISSUES = 10;
export const ABSENT = 11;
