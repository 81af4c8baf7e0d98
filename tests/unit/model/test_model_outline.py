"""An event's outline: its spans are exactly the facets, or there is no outline."""

import hashlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.facet_texts import FacetTexts, Recent
from headwater.model.outline import fast_facet_spans, outline

EVENT = (
    b'{"eventTime":"2026-01-01T00:00:00Z","producer":"p","run":{"runId":"r","facets":{"parent": '
    b'{"b":1,"a":"\xc3\xa9"} ,"x":{}}},"job":{"name":"j"},'
    b'"inputs":[{"name":"a","inputFacets":{"rows":{"n":1.50}},"facets":null},{}]}'
)


def spans_of(raw: bytes) -> dict[str, bytes] | None:
    outlined = outline(raw)
    return None if outlined is None else {".".join(path): raw[begin:end] for begin, end, path in outlined.spans}


def test_spans_are_the_facets_as_written() -> None:
    assert spans_of(EVENT) == {
        "run.facets.parent": b'{"b":1,"a":"\xc3\xa9"}',
        "run.facets.x": b"{}",
        "inputs.0.inputFacets.rows": b'{"n":1.50}',
    }


def test_the_rest_is_parsed_and_facets_are_parsed_on_access() -> None:
    outlined = outline(EVENT)

    assert outlined is not None
    assert outlined.shell["run"] == {"runId": "r", "facets": {"parent": 0, "x": 0}}
    assert outlined.facets["run", "facets"] == {"parent": {"b": 1, "a": "é"}, "x": {}}
    assert outlined.facets["inputs", "0", "inputFacets"].texts["rows"].body == b'{"n":1.5}'


@pytest.mark.parametrize(
    "raw",
    [
        b'{"run":{"facets":{"a":1}}}',  # a facet is an object
        b'{"run":{"facets":{"a":0}}}',
        b'{"run":{"facets":{"a":{"x":1,"x":1}}}}',
        b'{"run":{"facets":{"a":{},"a":{}}}}',
        b'{"run":{"facets":{"a":{}}},"run":{"facets":{"a":{}}}}',
        b'{"other":{"decoy":1},"run":{"facets":{"a":{"decoy":1}}}}',  # the same text occurs before it
        b'{"run":{"facets":{"a":{"x":1e999}}}}',
        b'{"run":{"facets":{"a":{"x":"\xff"}}}}',
        b'{"run":{"facets":{"\xfcber":{}}}}',
        b'{"run":{"facets":[]}}',
        b'{"run":[]}',
        b'{"inputs":{"0":{"facets":{}}}}',
        b'\xef\xbb\xbf{"run":{"facets":{"a":{}}}}',
        b'{"run":{"facets":{"a":{}}}} x',
        b"[]",
        b"",
    ],
)
def test_an_ambiguous_or_invalid_event_has_no_outline(raw: bytes) -> None:
    assert outline(raw) is None


@pytest.mark.parametrize("depth", [strict_json.MAX_DEPTH - 5, strict_json.MAX_DEPTH - 4])
def test_a_facets_depth_is_limited_by_that_of_an_event(depth: int) -> None:
    facet = b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
    raw = b'{"inputs":[{"facets":{"deep":' + facet + b"}}]}"

    is_deeper_than_any = depth > strict_json.MAX_DEPTH - 5

    assert (outline(raw) is None) == is_deeper_than_any
    if is_deeper_than_any:
        with pytest.raises(InvalidEventError, match="levels deep"):
            strict_json.parse(b'{"a":' + raw + b"}")


_TEXT = st.sampled_from(["a", "facets", "run", "x", "é", "\u2028<"])
_OBJECT: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    _TEXT, st.integers(0, 2) | st.just({}) | st.just([{}]) | _TEXT, max_size=2
)
_FACETS = st.none() | st.dictionaries(_TEXT, _OBJECT, max_size=3)
_HOLDER = st.fixed_dictionaries({}, optional={"facets": _FACETS, "name": _TEXT, "other": _OBJECT})
_DATASET = st.fixed_dictionaries(
    {}, optional={"inputFacets": _FACETS, "facets": _FACETS, "outputFacets": _FACETS, "x": _OBJECT}
)
_EVENT = st.fixed_dictionaries(
    {},
    optional={
        "run": st.none() | _HOLDER,
        "job": _HOLDER,
        "dataset": _HOLDER,
        "inputs": st.none() | st.lists(_DATASET, max_size=3),
        "outputs": st.lists(_DATASET, max_size=2),
        "facets": _FACETS,
        "x": _OBJECT,
    },
)


@given(_EVENT, st.randoms(use_true_random=False), st.sampled_from([None, (",", ":")]), st.booleans())
def test_each_span_is_the_value_at_its_path(
    event: dict[str, Any], order: random.Random, separators: tuple[str, str] | None, is_ascii: bool
) -> None:
    keys = [*event]
    order.shuffle(keys)
    raw = json.dumps({key: event[key] for key in keys}, separators=separators, ensure_ascii=is_ascii).encode()

    outlined = outline(raw)

    if outlined is None:
        return  # for example because of a decoy: the event is parsed in the slow way
    rest = bytearray(raw)
    for begin, end, path in outlined.spans:
        value: Any = event
        for step in path:
            value = value[int(step) if isinstance(value, list) else step]
        assert json.loads(raw[begin:end]) == value == outlined.facets[path[:-1]][path[-1]]
    for begin, end, _ in reversed(outlined.spans):
        rest[begin:end] = b"0"
    assert json.loads(rest) == outlined.shell


@given(_OBJECT, st.sampled_from([None, (",", ":")]), st.booleans(), st.booleans())
def test_a_facets_digest_does_not_depend_on_its_formatting(
    facet: dict[str, Any], separators: tuple[str, str] | None, is_ascii: bool, is_sorted: bool
) -> None:
    members = dict(sorted(facet.items(), reverse=not is_sorted))
    text = json.dumps(members, separators=separators, ensure_ascii=is_ascii).encode()

    (facet_text,) = FacetTexts({"a": text}).texts.values()

    body = json.dumps(facet, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert facet_text == (text, hashlib.sha256(body).digest(), body, False, False)


@pytest.mark.parametrize("facet", [b"{}", b'{"a":1}', b"0", b"1.0", b"null", b"[]"])
@pytest.mark.parametrize(
    "before", [b'{"x":%s,', b'{"x":"%s",', b'{"job":{"facets":%s},', b'{"inputs":[{"facets":{"b":%s}}],']
)
def test_fast_spans_are_those_of_the_outline_or_none(before: bytes, facet: bytes) -> None:
    text = facet.replace(b'"', b'\\"') if b'"%s"' in before else facet
    raw = before % text + b'"run":{"facets":{"a":' + facet + b"}}}"

    spans = fast_facet_spans(raw)

    outlined = outline(raw)
    assert outlined is None or outlined.spans == spans
    assert spans is None or (spans[-1].path == ("run", "facets", "a") and spans[-1].end == len(raw) - 3)


def test_an_ambiguous_facet_has_a_fast_span() -> None:
    raw = b'{"run":{"facets":{"a":{"x":1,"x":1}}}}'

    assert outline(raw) is None
    assert fast_facet_spans(raw) == ((22, 35, ("run", "facets", "a")),)


def test_the_oldest_facets_are_evicted() -> None:
    recent = Recent(max_bytes=1_000)

    facets = [FacetTexts({"a": b'{"number":%d}' % number}).texts["a"] for number in range(200)]
    for facet in facets:
        recent.keep(facet)

    texts = [recent.found(facet.text) for facet in facets]
    assert texts[0] is None
    assert texts[-1] is facets[-1]
    assert sum(each is not None for each in texts) < 100
