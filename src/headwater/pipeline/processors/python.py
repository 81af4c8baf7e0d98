"""`python`: a user's function from data frame to data frame."""

import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from pyspark import cloudpickle
from pyspark.sql import DataFrame

from headwater.errors import InvalidPipelineError
from headwater.pipeline.spec import PythonProcessor
from headwater.pipeline.terms import FunctionName


def applied(frame: DataFrame, does: PythonProcessor, directory: Path) -> DataFrame:
    """The function's result for the frame; its module is looked up in `directory` first.

    Raises:
        InvalidPipelineError: there is no such module or function, it does not accept these options, or does not return
            a data frame.
    """
    function = _function(does.function, directory)
    try:
        inspect.signature(function).bind(frame, **does.options)
    except TypeError as misfit:
        raise InvalidPipelineError(
            f"{does.function}: options do not match the function's parameters: {misfit}"
        ) from misfit
    result = function(frame, **does.options)
    if not isinstance(result, DataFrame):
        raise InvalidPipelineError(f"{does.function}: expected it to return a DataFrame, found {type(result).__name__}")
    return result


def _function(name: FunctionName, directory: Path) -> Callable[..., object]:
    module_name, _, function_name = name.partition(":")
    found = getattr(_module(module_name, directory), function_name, None)
    if not callable(found):
        raise InvalidPipelineError(f"{name}: module {module_name} has no function {function_name}")
    return found  # type: ignore[no-any-return]


def _module(name: str, directory: Path) -> ModuleType:
    """Import a module; one in the pipeline's directory is reloaded, since another pipeline may have one of that name.

    Spark's workers cannot import modules of the directory, so their functions are pickled by value.
    """
    for brought in cloudpickle.list_registry_pickle_by_value():
        sys.modules.pop(brought, None)
    before = set(sys.modules)
    sys.path.insert(0, str(directory))
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise InvalidPipelineError(f"{name}: no module {missing.name} in {directory} or installed") from missing
    finally:
        sys.path.remove(str(directory))
    for new in set(sys.modules) - before:
        if _lies_in(directory, sys.modules[new]):
            cloudpickle.register_pickle_by_value(sys.modules[new])
    return module


def _lies_in(directory: Path, module: ModuleType) -> bool:
    file = Path(getattr(module, "__file__", None) or "/")
    return file.is_relative_to(directory) and "site-packages" not in file.parts
