// The burst widget by hand: the sectors that a warp touches whose lane i reads element offset +
// stride * i.
import { widget } from "./core.js";
import { follow } from "./form.js";
import { panel, TOY_BURST } from "./strip.js";

export function show({ itemsizes, sector }, { memory, dtype, stride, offset, lane }, width) {
  const toy = memory === "toy";
  const itemsize = toy ? 1 : itemsizes[dtype];
  const unit = toy ? TOY_BURST : sector;
  const addresses = Array.from({ length: 32 }, (_, i) => (offset + stride * i) * itemsize);
  const lead = `Stride ${stride}, offset ${offset}, ${toy ? "toy memory" : dtype}.`;
  return {
    ...panel(
      { addresses, itemsize, unit },
      lane,
      lead,
      `Lane i reads x[${offset} + ${stride} * i]`,
      width,
    ),
    disabled: { dtype: toy },
  };
}

export default widget("ww-burst", (ui, data) => follow(ui, data, show));
