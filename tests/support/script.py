"""The labs' scripts, loaded so that tests use their configuration."""

import importlib.util
from pathlib import Path
from types import ModuleType


def loaded(path: Path) -> ModuleType:
    """A script as a module, without running it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
