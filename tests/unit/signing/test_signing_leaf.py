"""What a leaf commits to, and where facets are in an event's bytes."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import MalformedJsonError
from headwater.model.outline import fast_facet_spans
from headwater.signing.erasure import erase, is_committed
from headwater.signing.leaf import Found, commitment, leaf_data, salts, seal
from headwater.signing.merkle import leaf_hash
from headwater.signing.segments import _Scanned, facet_spans

EVENT = (
    b'{"eventTime":"2026-01-01T00:00:00Z","inputs":[{"facets":{"schema":{"fields":[]}},"name":"a"}],'
    b'"job":{"name":"j"},"run":{"facets":{"p\\u0061rent":{"job":"\xc3\xa9"},"x":1},"runId":"r"}}'
)
ENTRY = Found("event", 1_767_225_600_000_000, "ok", "node:n#sha256:k")
SALT = bytes(range(16))


def _values(raw: bytes) -> dict[str, bytes]:
    return {".".join(span.path): raw[span.begin : span.end] for span in facet_spans(raw)}


def test_a_leaf_is_computed_as_documented() -> None:
    stream = hashlib.shake_256(SALT).digest(64)
    schema, parent, x = b'{"fields":[]}', b'{"job":"\xc3\xa9"}', b"1"
    rest = EVENT.replace(schema, b"").replace(parent, b"").replace(b'"x":1', b'"x":')
    committed = hashlib.sha256(stream[:16] + rest).digest()
    for number, value in enumerate((schema, parent, x), 1):
        begin = EVENT.index(value if value != b"1" else b"1}") if value != b"1" else EVENT.index(b'"x":1') + 4
        committed += begin.to_bytes(8, "big") + (begin + len(value)).to_bytes(8, "big")
        committed += hashlib.sha256(stream[16 * number : 16 * number + 16] + value).digest()
    data = (
        b'{"commitment":"sha256:' + hashlib.sha256(committed).hexdigest().encode() + b'","keyId":"node:n#sha256:k",'
        b'"kind":"event","receivedUs":1767225600000000,"verdict":"ok","version":1}'
    )

    sealed = seal(EVENT, ENTRY, SALT)

    assert leaf_data(sealed.commitment, ENTRY) == data
    assert sealed.leaf == hashlib.sha256(b"\0" + data).digest() == leaf_hash(data)


def test_a_leaf_is_the_same_after_a_facet_is_erased() -> None:
    spans = facet_spans(EVENT)
    all_salts = salts(SALT, len(spans))
    parts = [
        hashlib.sha256(salt + EVENT[p.begin : p.end]).digest() for salt, p in zip(all_salts[1:], spans, strict=True)
    ]
    rest, begin = b"", 0
    for span in spans:
        rest, begin = rest + EVENT[begin : span.begin], span.end
    committed = hashlib.sha256(all_salts[0] + rest + EVENT[begin:]).digest()
    for span, part in zip(spans, parts, strict=True):  # without the facets' bytes
        committed += span.begin.to_bytes(8, "big") + span.end.to_bytes(8, "big") + part

    assert hashlib.sha256(committed).digest() == commitment(EVENT, spans, all_salts)


@pytest.mark.parametrize("erased", [[], ["run.facets.x"], ["inputs.0.facets.schema", "run.facets.parent"]])
def test_an_entry_is_committed_to_until_one_of_its_remaining_bytes_changes(erased: list[str]) -> None:
    raw, salt = erase(EVENT, SALT, erased) if erased else (EVENT, SALT)
    committed = seal(EVENT, ENTRY, SALT).commitment

    assert is_committed(raw, "event", salt, committed)
    for at in range(len(raw)):
        assert not is_committed(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :], "event", salt, committed)
    with_another = raw.replace(b'"job":{', b'"job":{"facets":{"y":1},')
    assert not is_committed(with_another, "event", salt, committed)


@pytest.mark.parametrize("index", range(len(EVENT)))
def test_every_byte_is_committed_to(index: int) -> None:
    changed = EVENT[:index] + bytes([EVENT[index] ^ 1]) + EVENT[index + 1 :]
    spans = facet_spans(EVENT)

    assert commitment(changed, spans, salts(SALT, len(spans))) != commitment(EVENT, spans, salts(SALT, len(spans)))


def test_another_salt_is_another_leaf() -> None:
    assert seal(EVENT, ENTRY, SALT).leaf != seal(EVENT, ENTRY, bytes(16)).leaf


def test_an_edit_is_committed_to_as_a_whole() -> None:
    edit = b'{"run":{"facets":{"a":1}}}'

    sealed = seal(edit, ENTRY._replace(kind="edit"), SALT)

    assert sealed.commitment == hashlib.sha256(hashlib.sha256(salts(SALT, 0)[0] + edit).digest()).digest()
    assert is_committed(edit, "edit", SALT, sealed.commitment)


def test_facets_are_found_at_every_place_of_openlineage() -> None:
    assert _values(EVENT) == {
        "inputs.0.facets.schema": b'{"fields":[]}',
        "run.facets.parent": b'{"job":"\xc3\xa9"}',
        "run.facets.x": b"1",
    }
    of_datasets = {"facets": {"a": 1}, "inputFacets": {"b": [2]}, "outputFacets": {"c": None}, "other": {"facets": {}}}
    raw = json.dumps({"inputs": [{}, of_datasets], "outputs": [of_datasets], "dataset": of_datasets}).encode()
    assert [*_values(raw)] == [
        "inputs.1.facets.a",
        "inputs.1.inputFacets.b",
        "inputs.1.outputFacets.c",
        "outputs.0.facets.a",
        "outputs.0.inputFacets.b",
        "outputs.0.outputFacets.c",
        "dataset.facets.a",
    ]


def test_values_that_are_not_objects_hold_no_facets() -> None:
    raw = b'{ "inputs": null, "outputs": "x", "run": 5, "dataset": {"facets": true}, "job": {"facets": {"a": 1}} }'

    assert _values(raw) == {"job.facets.a": b"1"}


def test_an_event_truncated_anywhere_is_not_json() -> None:
    raw = json.dumps(json.loads(EVENT), indent=1).encode()

    assert len(facet_spans(raw)) == 3
    for end in range(len(raw)):
        with pytest.raises(MalformedJsonError):
            facet_spans(raw[:end])


_FACETS = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)
_DATASET = st.fixed_dictionaries(
    {"name": st.text(max_size=3)}, optional={"facets": _FACETS, "inputFacets": _FACETS, "outputFacets": _FACETS}
)
_EVENTS = st.fixed_dictionaries({
    "run": st.fixed_dictionaries({"facets": _FACETS, "runId": st.text(max_size=3)}),
    "inputs": st.lists(_DATASET, max_size=2),
    "facets": _FACETS,
    "job": st.fixed_dictionaries({"name": st.text(max_size=2)}, optional={"facets": _FACETS}),
})  # fmt: skip


@given(_EVENTS, st.sampled_from([None, 1]), st.booleans())
def test_facets_are_found_in_any_formatting_of_an_event(
    event: dict[str, Any], indent: int | None, is_ascii: bool
) -> None:
    raw = json.dumps(event, indent=indent, ensure_ascii=is_ascii).encode()

    spans = facet_spans(raw)

    assert [*spans] == _Scanned(raw).spans()
    assert all(left.end < right.begin for left, right in pairwise(spans))
    for span in spans:
        value: Any = event
        for step in span.path:
            value = value[int(step) if isinstance(value, list) else step]
        assert json.loads(raw[span.begin : span.end]) == value


def test_the_fast_and_the_slow_scan_find_the_same_in_real_events(shared: Path) -> None:
    events = [path.read_bytes() for path in sorted(shared.rglob("*.json")) if path.stat().st_size < 200_000]
    texts = [orjson.dumps(body) for raw in events if isinstance(body := orjson.loads(raw), dict) and "run" in body]
    for raw in [*events, *texts]:
        if (spans := fast_facet_spans(raw)) is not None:
            assert [*spans] == _Scanned(raw).spans()
    assert all(fast_facet_spans(raw) is not None for raw in texts)
    assert len(texts) > 5
