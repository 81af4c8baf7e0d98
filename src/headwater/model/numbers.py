"""Whole numbers in queries and paths."""

from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError


def _without_separators(text: object) -> object:
    """The text unchanged; pydantic would read `1_0` as Python does, as 10."""
    if isinstance(text, str) and "_" in text:
        raise PydanticCustomError("int_parsing", "expected a whole number")
    return text


Whole = Annotated[int, BeforeValidator(_without_separators)]
