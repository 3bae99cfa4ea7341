"""Shared by tests of pages that run Python: the site below a folder, as at a university."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.pages import Watch
from support.served_site import Site, served


@pytest.fixture(scope="module")
def base(site: Site) -> Iterator[str]:
    """The address of the site below a folder of a server."""
    if not (site.folder / "_static/runtime/manifest.json").exists():
        pytest.skip("needs the parts of the editors: WARPWISE_PARTS=required says what is missing")
    with served(site.folder.parent) as url:
        yield f"{url}/{site.folder.name}/"


@pytest.fixture(scope="module")
def watch() -> Watch:
    """A record of what a module's page asks for."""
    return Watch()
