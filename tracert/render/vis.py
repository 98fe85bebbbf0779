"""The vis-network script that pyvis ships: read from its package, so that nothing is fetched."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tracert.errors import TracertError


@cache
def vis_source() -> str:
    """The text of vis-network 9.1.2, without importing pyvis.

    Raises:
        TracertError: the package or its file is not there.
    """
    spec = find_spec("pyvis")
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or ():
        path = Path(place) / "lib" / "vis-9.1.2" / "vis-network.min.js"
        if path.is_file():
            source = path.read_text(encoding="utf-8")
            # The map is not shipped; a browser that looks for it would ask the network.
            return source.replace("//# sourceMappingURL=vis-network.min.js.map", "")
    raise TracertError(
        "The package pyvis is not complete. Run: pip install --force-reinstall pyvis"
    )
