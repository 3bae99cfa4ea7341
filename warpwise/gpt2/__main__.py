"""``python -m warpwise.gpt2``: train the miniature, let it write, and sum up a step."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from warpwise.errors import LaunchError, WarpwiseError
from warpwise.gpt2.checkpoint import read_model, write_model
from warpwise.gpt2.config import MINIATURE, initial
from warpwise.gpt2.model import GPT2, AdamW
from warpwise.gpt2.train import TEXT, batches, run, step, tracing, written
from warpwise.stopwatch import by_kernel
from warpwise.stopwatch.cards import known
from warpwise.traces import Trace


def main(
    steps: Annotated[int, Option(min=1, help="Updates of all parameters.")] = 10,
    parts: Annotated[int, Option(min=1, help="Batches of the text, taken in turn.")] = 1,
    rate: Annotated[float, Option(min=0, help="The learning rate.")] = 3e-3,
    write: Annotated[int, Option(min=0, help="Bytes it makes up, before and after training.")] = 31,
    precision: Annotated[Literal["fp32", "bf16"], Option(help="Of numbers in memory.")] = "fp32",
    device: Annotated[str, Option(help="A GPU, for modelled times.", metavar="NAME")] = "H100 SXM",
    text: Annotated[Path, Option(help="What to learn.", show_default=TEXT.name)] = TEXT,
    load: Annotated[Path | None, Option(help="A model of llm.c's whose tokens are bytes.")] = None,
    save: Annotated[Path | None, Option(help="Where to keep the model.")] = None,
) -> None:
    """Train a small GPT-2 by its own kernels, in the simulator: no GPU is needed.

    The last step is traced, and summed up kernel by kernel, with its time on a GPU, modelled."""
    known(device)
    config, parameters = read_model(load) if load else (MINIATURE, initial(MINIATURE))
    if config.vocabulary > 256:
        raise LaunchError(f"{load} knows {config.vocabulary:,} tokens: here they are bytes")
    model, read = GPT2(config, parameters, bf16=precision == "bf16"), text.read_bytes()
    prompt, found = read[:1], batches(read, model, parts)
    if save and (save.is_dir() or not save.parent.is_dir()):
        raise LaunchError(f"no file can be saved at {save}: it is a folder, or in none")
    losses: list[str] = []
    traces: list[Trace] = []
    last = tracing(traces, recorded=True)
    typer.echo(f"before: {prompt + written(model, prompt, write)!r}")
    with typer.progressbar(range(steps), label="training", file=sys.stderr) as numbers:
        for number in numbers:
            loss = step(model, *next(found), AdamW(rate), last if number == steps - 1 else run)
            losses.append(f"{loss:.6f}")
            numbers.label = f"loss {losses[-1]}"
    typer.echo(f"losses: {' '.join(losses)}")
    typer.echo(f"after:  {prompt + written(model, prompt, write)!r}")
    if save:
        write_model(save, config, model.flat.copy_to_host())
    with typer.progressbar(length=len(traces), label="timing", file=sys.stderr) as bar:
        estimates = by_kernel.timed(traces, device, lambda: bar.update(1))
    typer.echo(f"\nOne step on {device}, {by_kernel.how(estimates)}:")
    for line in by_kernel.table(by_kernel.rows(traces, estimates)):
        typer.echo(line)


if __name__ == "__main__":
    try:
        typer.run(main)
    except (WarpwiseError, OSError) as error:
        sys.exit(f"warpwise.gpt2: {error}")
