"""The parts of which a page's editor consists, from their registries to the built site.

They are Python for the browser (Pyodide), NumPy, a slim wheel of this package, and the editor's
script. ``parts.toml`` lists what is fetched; nothing of it is in the repository. ``lay`` puts all
into a built site, where nothing is loaded until a reader asks for it."""

from warpwise.book.parts.laying import RUNTIME, Laid, Manifest, lay
from warpwise.book.parts.listed import MissingPart

__all__ = ["RUNTIME", "Laid", "Manifest", "MissingPart", "lay"]
