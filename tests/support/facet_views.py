"""All views of facets, discovered by their base class."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import headwater.model.facets as room
from headwater.model.facets.about import DatasetTagsFacet
from headwater.model.facets.view import View


def _views(of: type[View]) -> Iterator[type[View]]:
    for view in of.__subclasses__():
        if hasattr(view, "key"):
            yield view
        yield from _views(view)


for _module in iter_modules(room.__path__, f"{room.__name__}."):
    import_module(_module.name)

VIEWS = sorted(set(_views(View)), key=lambda view: view.__name__)


def view_of(entity: str, key: str) -> type[View] | None:
    """The view of that facet of an entity, if any; the tags of a dataset have their own."""
    if (entity, key) == ("dataset", DatasetTagsFacet.key):
        return DatasetTagsFacet
    return next((view for view in VIEWS if view.key == key and view is not DatasetTagsFacet), None)
