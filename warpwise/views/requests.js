// The requests of a traced kernel: its source, where a counter chooses the requests of a line, and
// the picture of one request at a time.
import { undelta, widget } from "./core.js";
import { follow } from "./form.js";
import { panel } from "./strip.js";

export function show({ lines, note, sector }, { row, step, lane }, width) {
  const chosen = lines.find((one) => one.row === row);
  if (!chosen) return { picture: "", text: note };
  const { first, total, requests } = chosen;
  const last = first + requests.length - 1;
  const request = requests[step - first] ?? requests[0];
  const { lead } = request;
  const carried = total > requests.length ? `, shown: ${first} to ${last}` : "";
  return {
    ...panel(
      { ...request, addresses: undelta(request.deltas), unit: sector },
      lane,
      lead + ".",
      lead.split(" with")[0],
      width,
    ),
    limits: { step: [first, last] },
    outputs: { step: `${step} of ${total}${carried}` },
  };
}

export default widget("ww-requests", (ui, data) => {
  const bring = follow(ui, data, show);
  const form = ui.find("form.auto");
  const { row, step } = form;
  const source = ui.find("form.source");
  const draw = ui.draw;
  if (!row) return;
  const [back, next] = form.querySelectorAll("button");
  ui.draw = (width) => {
    draw(width);
    [back.disabled, next.disabled] = [step.value === step.min, step.value === step.max];
    const radio = [...source.elements].find((one) => one.value === row.value);
    if (radio.checked) return;
    radio.checked = true;
    source.firstChild.scrollTop = radio.closest("tr").offsetTop - 80;
  };
  source.oninput = ({ target: { value } }) =>
    bring({ row: value, step: data.lines.find((one) => one.row === value).worst });
  back.onclick = () => ui.step(() => (step.stepDown(), form.oninput()));
  next.onclick = () => ui.step(() => (step.stepUp(), form.oninput()));
});
