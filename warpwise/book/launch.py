"""Where a lab can be opened without installing anything: links to Colab and Binder, from the address of the repository.

The one setting is ``html_theme_options.repository_url`` in ``_config.yml``; where it is empty a lab can only be downloaded. Both
services fetch the notebook from GitHub by themselves, so nothing is sent from the page. The links name a branch:
``repository_branch`` beside the address, or ``main``. ``warpwise.labs.colab`` reads both, for the labs' own setup.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from sphinx.config import Config
from sphinx.errors import ConfigError

from warpwise.errors import LabError
from warpwise.labs.colab import BRANCH, named


@dataclass(frozen=True)
class Repository:
    """A public repository on GitHub, the only host that Colab reads from."""

    owner: str
    name: str
    branch: str = BRANCH

    def colab(self, path: str) -> str:
        """The address that opens a notebook of the repository in Google Colab."""
        return f"https://colab.research.google.com/github/{self.owner}/{self.name}/blob/{quote(self.branch)}/{quote(path)}"

    def binder(self, path: str) -> str:
        """The address that opens a notebook on mybinder.org, in an environment made from ``.binder/``."""
        return f"https://mybinder.org/v2/gh/{self.owner}/{self.name}/{quote(self.branch, safe='')}?{urlencode({'labpath': path})}"


def repository(config: Config) -> Repository | None:
    """The repository that ``_config.yml`` names, if it names one. Raises ConfigError for an address that is not one of GitHub's."""
    try:
        found = named(config.html_theme_options)
    except LabError as error:
        raise ConfigError(str(error)) from error
    return Repository(*found) if found else None
