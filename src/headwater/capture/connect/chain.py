"""A connector's chain of transforms, read from its properties: which topic and which fields come out of it.

The transforms that ship with Kafka are known, and two of Debezium's. An unknown transform may do anything to a record,
and one with a predicate applies to some records only, so the result after either of them is unknown.

Source: Apache Kafka, "Transformations", https://kafka.apache.org/documentation/#connect_included_transformation;
Debezium, "New Record State Extraction" and "Topic Routing"
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from headwater.capture.connect.java_regex import matches, replaced_first
from headwater.capture.connect.records import Properties, is_left_open, listed

_KAFKA: Final = "org.apache.kafka.connect.transforms."
_OF_VALUE: Final = "$Value"
_ROUTED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "RegexRouter": ("regex", "replacement"),
    "ByLogicalTableRouter": ("topic.regex", "topic.replacement"),
}
"""Routers by an expression, with the settings of it and of its replacement."""
_ROUTERS: Final = frozenset({*_ROUTED_BY, "TimestampRouter"})
_UNCHANGED: Final = _ROUTERS | {"SetSchemaMetadata", "DropHeaders", "InsertHeader", "Filter", "ValueToKey"}
"""Transforms that change no field of the value."""
_VALUES: Final = frozenset({"static.value", "replacement"})
"""Settings that hold field values, not names; except that a router's `replacement` is part of a topic name."""
_OURS: Final = "headwater.connect.OpenLineageLifecycleSmt"
_UNWRAPPING: Final = "ExtractNewRecordState"
_BY_FIELD: Final = "route.by.field"
_DEBEZIUM: Final = "io.debezium.transforms."
_OF_DEBEZIUM: Final = frozenset({_UNWRAPPING, "ByLogicalTableRouter"})


class Column(NamedTuple):
    """An output field and its input field, if any; nested fields by dotted paths."""

    name: str
    source: str | None
    is_changed: bool = False
    is_masked: bool = False


class _Transform(NamedTuple):
    kind: str
    """The class without its package, if known; without `$Value`, but with `$Key`."""
    settings: Mapping[str, str]

    @property
    def is_for_some(self) -> bool:
        """Whether a predicate limits it to some records."""
        return "predicate" in self.settings

    @property
    def is_by_record(self) -> bool:
        """Whether the topic depends on the record: its time, or one of its fields."""
        is_by_field = self.kind == _UNWRAPPING and bool(self.settings.get(_BY_FIELD))
        return self.kind == "TimestampRouter" or is_by_field

    @property
    def is_open(self) -> bool:
        """Whether a config provider fills in a part of a setting that decides the resulting topic or fields."""
        says = self.settings.keys() - (() if self.kind in _ROUTERS else _VALUES)
        return any(is_left_open(self.settings[name]) for name in says)


class _Act(NamedTuple):
    """How a transform changes columns, and the settings that it depends on."""

    changed: Callable[[Mapping[str, str], list[Column]], list[Column]]
    settings: tuple[str, ...]


def transform_properties(properties: Properties) -> frozenset[str]:
    """The names of the transforms' properties that are read here.

    A transform may have others, including secrets.
    """
    names = {"transforms"}
    for name in _names(properties):
        prefix = f"transforms.{name}."
        names.add(f"{prefix}type")
        if (transform := _transform(properties, prefix)) is not None:
            act = _ACTS.get(transform.kind)
            settings = _ROUTED_BY.get(transform.kind, ()) if act is None else act.settings
            names |= {f"{prefix}{setting}" for setting in ("predicate", *settings)}
    return frozenset(names)


def routed_topic(properties: Properties, topic: str) -> str | None:
    """The topic's name after the transforms; None if unknown."""
    for transform in _chain(properties):
        if transform is None or transform.is_by_record or _is_open_router(transform):
            return None
        if transform.kind in _ROUTED_BY:
            rerouted = _rerouted(transform, topic)
            if rerouted is None or (transform.is_for_some and rerouted != topic):
                return None
            topic = rerouted
    return topic


def hides_topics(properties: Properties) -> bool:
    """Whether the topic's name after the transforms is unknown, whatever it was before."""
    return any(transform is None or transform.is_by_record for transform in _chain(properties))


def renames_topics(properties: Properties) -> bool:
    """Whether transforms may change the topic name that a source gave its records."""
    return bool(routers(properties))


def routers(properties: Properties) -> list[str]:
    """The transforms that may change a topic's name, such as `transforms.route`."""
    chain = zip(_names(properties), _chain(properties), strict=True)
    return [f"transforms.{name}" for name, each in chain if each is None or each.kind in _ROUTERS or each.is_by_record]


def routers_left_open(properties: Properties) -> list[str]:
    """The properties that decide a topic's name after the transforms and that config providers fill in."""
    prefixes = tuple(f"{router}." for router in routers(properties))
    properties_used = ("transforms", *(name for name in properties if name.startswith(prefixes)))
    return [name for name in properties_used if is_left_open(properties.get(name))]


def columns_behind(properties: Properties, fields: Sequence[str]) -> list[Column] | None:
    """The transforms' output columns for records with these fields; None if unknown."""
    columns = [Column(field, field) for field in fields]
    for transform in _chain(properties):
        if transform is None:
            return None
        act = _ACTS.get(transform.kind)
        if act is not None and (transform.is_for_some or transform.is_open):
            return None
        if act is not None:
            columns = act.changed(transform.settings, columns)
        elif transform.kind not in _UNCHANGED and not transform.kind.endswith("$Key"):
            return None
    return columns


def columns_before(properties: Properties, fields: Sequence[str]) -> list[Column] | None:
    """For a source, the origin of each of the `fields` that come out of its transforms; None if unknown."""
    candidates = dict.fromkeys([*_names_before(properties, fields), *fields])
    behind = columns_behind(properties, [*candidates])
    if behind is None:
        return None
    by_name: dict[str, Column] = {}
    for column in behind:
        known = by_name.get(column.name)
        if known is None or known.source == known.name:  # a field renamed to this name hides the original one
            by_name[column.name] = column
    return [by_name[field] for field in fields if field in by_name]


def _names_before(properties: Properties, fields: Sequence[str]) -> Iterable[str]:
    for transform in _chain(properties):
        if transform is not None and transform.kind == "ReplaceField":
            yield from _renames(transform.settings)
        elif transform is not None and transform.kind == "ExtractField":
            yield from (f"{transform.settings.get('field', '')}.{field}" for field in fields)
        elif transform is not None and transform.kind == _UNWRAPPING:
            yield from (f"after.{field}" for field in fields)
        elif transform is not None and transform.kind == "Flatten":
            yield from (field.replace(transform.settings.get("delimiter", "."), ".") for field in fields)


def _chain(properties: Properties) -> list[_Transform | None]:
    return [_transform(properties, f"transforms.{name}.") for name in _names(properties)]


def _names(properties: Properties) -> list[str]:
    return listed(properties.get("transforms"))


def _is_open_router(transform: _Transform) -> bool:
    return transform.kind in _ROUTERS and transform.is_open


def _transform(properties: Properties, prefix: str) -> _Transform | None:
    settings = {key.removeprefix(prefix): value for key, value in properties.items() if key.startswith(prefix)}
    kind = settings.get("type", "")
    if kind == _OURS:
        return _Transform("SetSchemaMetadata", {})
    if kind.startswith(_DEBEZIUM):
        name = kind.removeprefix(_DEBEZIUM)
        return _Transform(name, settings) if name in _OF_DEBEZIUM else None
    return _Transform(kind.removeprefix(_KAFKA).removesuffix(_OF_VALUE), settings) if kind.startswith(_KAFKA) else None


def _rerouted(router: _Transform, topic: str) -> str | None:
    """The topic after Java's `Matcher.replaceFirst`, if the whole topic matches; None if only Java can say.

    Source: `RegexRouter` of Kafka, `ByLogicalTableRouter` of Debezium
    """
    regex, replacement = (router.settings.get(setting, "") for setting in _ROUTED_BY[router.kind])
    if (is_rerouted := matches(regex, topic)) is None:
        return None
    return replaced_first(regex, replacement, topic) if is_rerouted else topic


def _replaced(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    excluded = listed(settings.get("exclude") or settings.get("blacklist"))
    included = listed(settings.get("include") or settings.get("whitelist"))
    renames = _renames(settings)
    return [
        column._replace(name=_renamed(column.name, renames))
        for column in columns
        if _top(column.name) not in excluded and (not included or _top(column.name) in included)
    ]


def _renamed(name: str, renames: Mapping[str, str]) -> str:
    top, dot, rest = name.partition(".")
    return f"{renames.get(top, top)}{dot}{rest}"


def _renames(settings: Mapping[str, str]) -> dict[str, str]:
    pairs = (pair.partition(":") for pair in listed(settings.get("renames")))
    return {old.strip(): new.strip() for old, _, new in pairs}


def _masked(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    masked = listed(settings.get("fields"))
    return [
        column._replace(is_changed=True, is_masked=True) if _top(column.name) in masked else column
        for column in columns
    ]


def _cast(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    cast = [pair.partition(":")[0].strip() for pair in listed(settings.get("spec"))]
    return _changed(columns, cast)


def _converted(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    return _changed(columns, listed(settings.get("field")))


def _changed(columns: list[Column], names: Sequence[str]) -> list[Column]:
    return [column._replace(is_changed=True) if column.name in names else column for column in columns]


def _flattened(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    delimiter = settings.get("delimiter", ".")
    leaves = [column for column in columns if not _has_members(column.name, columns)]
    return [column._replace(name=column.name.replace(".", delimiter)) for column in leaves]


def _has_members(name: str, columns: Iterable[Column]) -> bool:
    return any(other.name.startswith(f"{name}.") for other in columns)


def _extracted(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    prefix = f"{settings.get('field', '')}."
    return [
        column._replace(name=column.name.removeprefix(prefix)) for column in columns if column.name.startswith(prefix)
    ]


_REWRITING: Final = ("rewrite", "rewrite-with-tombstone")
_OF_TRANSACTION: Final = ("id", "total_order", "data_collection_order")


def _unwrapped(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    """The row's current state, plus fields added from Debezium's envelope, which are in no table.

    Source: Debezium, "New Record State Extraction", `add.fields`, `delete.tombstone.handling.mode`
    """
    added = dict(_added(field, settings) for field in listed(settings.get("add.fields")))
    mode = settings.get("delete.tombstone.handling.mode") or settings.get("delete.handling.mode")
    if mode in _REWRITING:
        added["__deleted"] = ""
    sources = {column.name: column.source for column in columns}
    row = [column for column in _extracted({"field": "after"}, columns) if column.name not in added]
    return [*row, *(Column(name, sources.get(source_path)) for name, source_path in added.items())]


def _added(field: str, settings: Mapping[str, str]) -> tuple[str, str]:
    """An added field's name, and its path in the envelope, such as `source.ts_ms`."""
    source_path, _, new = field.partition(":")
    name = f"{settings.get('add.fields.prefix', '__')}{new or source_path.replace('.', '_')}"
    if source_path in _OF_TRANSACTION:
        return name, f"transaction.{source_path}"
    return name, source_path if "." in source_path or source_path in ("op", "ts_ms") else f"source.{source_path}"


_INSERTED_AS: Final = ("topic.field", "partition.field", "offset.field", "timestamp.field", "static.field")


def _inserted(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    new = [settings[what].rstrip("!?") for what in _INSERTED_AS if settings.get(what)]
    return [*(column for column in columns if column.name not in new), *(Column(name, None) for name in new)]


def _hoisted(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    return [column._replace(name=f"{settings.get('field', '')}.{column.name}") for column in columns]


def _to_headers(settings: Mapping[str, str], columns: list[Column]) -> list[Column]:
    moved = listed(settings.get("fields")) if settings.get("operation") == "move" else []
    return [column for column in columns if _top(column.name) not in moved]


def _top(name: str) -> str:
    return name.partition(".")[0]


_ACTS: Final[Mapping[str, _Act]] = {
    "ReplaceField": _Act(_replaced, ("exclude", "blacklist", "include", "whitelist", "renames")),
    "MaskField": _Act(_masked, ("fields",)),
    "Cast": _Act(_cast, ("spec",)),
    "TimestampConverter": _Act(_converted, ("field",)),
    "Flatten": _Act(_flattened, ("delimiter",)),
    "ExtractField": _Act(_extracted, ("field",)),
    "InsertField": _Act(_inserted, _INSERTED_AS),
    _UNWRAPPING: _Act(
        _unwrapped,
        ("add.fields", "add.fields.prefix", "delete.tombstone.handling.mode", "delete.handling.mode", _BY_FIELD),
    ),
    "HoistField": _Act(_hoisted, ("field",)),
    "HeaderFrom": _Act(_to_headers, ("operation", "fields")),
}
