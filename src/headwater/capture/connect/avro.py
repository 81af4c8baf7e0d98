"""A decoder of Avro's binary encoding, by the writer's schema.

For one producer, Iceberg's sink: its schemas refer from within a namespace to a type without one by its bare name. The
specification, and so every library, resolves such a name within the namespace; here names are never qualified.

Source: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Schema: TypeAlias = str | list[Any] | dict[str, Any]
_MORE: Final = 0x80
_MAX_BITS: Final = 64


def decoded(data: bytes, schema: Schema) -> Any:  # noqa: ANN401  whatever the schema says
    """The datum: records and maps as dicts, fixed as bytes, logical types as their underlying types.

    Raises:
        ValueError: the data is truncated.
        LookupError: the schema refers to an undefined type.
    """
    return _Reader(data).read(schema)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._named: dict[str, dict[str, Any]] = {}

    def read(self, schema: Schema) -> Any:  # noqa: ANN401
        if isinstance(schema, list):
            return self.read(schema[self._long()])
        if isinstance(schema, str):
            simple = _SIMPLE.get(schema)
            return self.read(self._named[schema.rpartition(".")[2]]) if simple is None else simple(self)
        return self._complex(schema)

    def _complex(self, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if "name" in schema:
            self._named[schema["name"].rpartition(".")[2]] = dict(schema)
        match schema["type"]:
            case "record":
                return {field["name"]: self.read(field["type"]) for field in schema["fields"]}
            case "fixed":
                return self._bytes(schema["size"])
            case "enum":
                return schema["symbols"][self._long()]
            case "array":
                return [self.read(schema["items"]) for _ in self._blocks()]
            case "map":
                return {self._string(): self.read(schema["values"]) for _ in self._blocks()}
            case other:
                return self.read(other)

    def _blocks(self) -> Any:  # noqa: ANN401  an iterator of nothing in particular
        while count := self._long():
            if count < 0:
                self._long()  # the block's size in bytes
            yield from range(abs(count))

    def _long(self) -> int:
        number = shift = 0
        while shift < _MAX_BITS:
            (byte,) = self._bytes(1)
            number |= (byte & ~_MORE) << shift
            if byte < _MORE:
                return (number >> 1) ^ -(number & 1)
            shift += 7
        raise ValueError("a number is longer than 64 bits")

    def _string(self) -> str:
        return self._bytes(self._long()).decode()

    def _bytes(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if count < 0 or len(taken) < count:
            raise ValueError("the data is truncated")
        self._at += count
        return taken

    def _number(self, form: str, size: int) -> float:
        number: float = struct.unpack(form, self._bytes(size))[0]
        return number


_SIMPLE: Final[Mapping[str, Callable[[_Reader], Any]]] = {
    "null": lambda _: None,
    "boolean": lambda reader: reader._bytes(1) != b"\0",
    "int": _Reader._long,
    "long": _Reader._long,
    "float": lambda reader: reader._number("<f", 4),
    "double": lambda reader: reader._number("<d", 8),
    "bytes": lambda reader: reader._bytes(reader._long()),
    "string": _Reader._string,
}
