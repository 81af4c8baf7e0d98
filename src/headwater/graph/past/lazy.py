"""Mappings whose values are computed on demand."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from itertools import chain
from typing import Any, TypeVar, cast

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class LazyItems(MutableMapping[KeyT, ValueT]):
    """Each value is computed on first access, and cached.

    `make` returns None where there is none; `keys` gives all keys that may exist, and perhaps others.
    """

    def __init__(self, make: Callable[[KeyT], ValueT | None], keys: Callable[[], Iterable[Iterable[KeyT]]]) -> None:
        self._make = make
        self._keys = keys
        self._held: dict[KeyT, ValueT] = {}

    def forget(self, key: KeyT) -> None:
        """Drop the cached value."""
        self._held.pop(key, None)

    def forget_all(self) -> None:
        """Drop all cached values."""
        self._held.clear()

    @property
    def size(self) -> int:
        """The number of cached values."""
        return len(self._held)

    def __getitem__(self, key: KeyT) -> ValueT:
        """The value for the key; caches it."""
        held = self._held.get(key)
        if held is None:
            held = self._hold(key)
            if held is None:
                raise KeyError(key)
        return held

    def get(self, key: KeyT, default: Any = None) -> Any:  # noqa: ANN401  as of any mapping
        """As in `Mapping`, without the cost of a KeyError."""
        held = self._held.get(key)
        if held is None:
            held = self._hold(key)
        return default if held is None else held

    def __contains__(self, key: object) -> bool:
        """Whether there is a value for the key; caches it."""
        return key in self._held or self._hold(cast(KeyT, key)) is not None

    def _hold(self, key: KeyT) -> ValueT | None:
        value = self._make(key)
        if value is not None:
            self._held[key] = value
        return value

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        """Set a value."""
        self._held[key] = value

    def __delitem__(self, key: KeyT) -> None:
        """Drop the cached value."""
        del self._held[key]

    def possible_keys(self) -> Iterable[KeyT]:
        """The keys that may exist, each once, as of the call; computes no value."""
        return [*dict.fromkeys(chain(*self._keys()))]

    def __iter__(self) -> Iterator[KeyT]:
        """The keys that exist, as of the call."""
        return (key for key in self.possible_keys() if key in self)

    def __len__(self) -> int:
        """The number of values; computes all."""
        return sum(1 for _ in self)


class LazyMapping(MutableMapping[KeyT, ValueT]):
    """A mapping that is computed entirely on first access."""

    def __init__(self, make: Callable[[], dict[KeyT, ValueT]]) -> None:
        self._make = make
        self._made: dict[KeyT, ValueT] | None = None

    def _all(self) -> dict[KeyT, ValueT]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: KeyT) -> ValueT:
        """The value for the key."""
        return self._all()[key]

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        """Set a value."""
        self._all()[key] = value

    def __delitem__(self, key: KeyT) -> None:
        """Remove a value."""
        del self._all()[key]

    def __iter__(self) -> Iterator[KeyT]:
        """The keys."""
        return iter(self._all())

    def __len__(self) -> int:
        """The number of values."""
        return len(self._all())


class PartlyLoaded(LazyMapping[str, ValueT]):
    """A mapping with some values at hand; the others are loaded when one of them is first needed.

    `begin` is called on first access: it returns the values at hand, and the names of the others. `read` loads these;
    it may leave out names.
    """

    def __init__(
        self,
        begin: Callable[[], tuple[dict[str, ValueT], set[str]]],
        read: Callable[[set[str]], Mapping[str, ValueT]],
    ) -> None:
        super().__init__(self._read_others)
        self._begin = begin
        self._read = read
        self._begun: tuple[dict[str, ValueT], set[str]] | None = None

    def _known(self) -> tuple[dict[str, ValueT], set[str]]:
        if self._begun is None:
            self._begun = self._begin()
        return self._begun

    def _read_others(self) -> dict[str, ValueT]:
        known, names = self._known()
        return {**self._read(names), **known} if names else known

    def __getitem__(self, key: str) -> ValueT:
        """The value for the key; a value at hand does not load the others."""
        if self._made is None:
            known, names = self._known()
            if key not in names:
                return known[key]
        return super().__getitem__(key)
