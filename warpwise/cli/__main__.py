"""``python -m warpwise.cli``: the command where no script was installed."""

from warpwise.cli import app

app()
