"""Puts the labs' notebooks into a wheel, for ``warpwise labs get``.

What instructors release and pack is built without (HATCH_BUILD_NO_HOOKS), since their course may
have labs that are not handed out yet."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Labs(BuildHookInterface):
    """The hook that hatchling calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":  # an editable installation has them in its checkout
            build_data["force_include"]["labs"] = "warpwise/notebooks"
