"""JupyterLite in the site: a lab opens, running, in the reader's browser, from the same files.

``lay`` writes the folder ``lite`` of a built site, out of wheels that ``warpwise.book.parts`` has
checked: JupyterLab's scripts (``scripts``), the packages of its kernel (``kernel``), the labs
(``contents``), and the page that opens one (``page``). Pyodide, NumPy and warpwise are those of the
pages' editors. ``jupyter lite build`` would write the same scripts with seven more apps, and
settings that are fetched file by file.
"""

from warpwise.book.lite.folder import FOLDER, address, fetched, is_in, lay

__all__ = ["FOLDER", "address", "fetched", "is_in", "lay"]
