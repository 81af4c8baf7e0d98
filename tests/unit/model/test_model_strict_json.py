"""Strict JSON: one interpretation, or a refusal with its position."""

import json
import math
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidEventError, MalformedJsonError
from headwater.model import strict_json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.booleans())
def test_a_written_value_is_read_back(value: strict_json.Json, ascii_only: bool) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert strict_json.parse(raw) == value


@given(st.binary() | st.text(alphabet='[]{}",:\\ud8a0NaInfity-+.e0123456789 \n').map(str.encode))
def test_any_bytes_are_read_as_by_the_json_module_or_refused(raw: bytes) -> None:
    try:
        value = strict_json.parse(raw)
    except InvalidEventError:
        return

    assert json.dumps(value) == json.dumps(json.loads(raw)) or b"\\u" in raw


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"a":1,"a":2}', "a"),
        (b'{"run":{"facets":{"x":1,"y":2,"x":3}}}', "run.facets.x"),
        (b'{"inputs":[{"name":"a"},{"name":"b","name":"b"}]}', "inputs.1.name"),
        (b'[{"a":1},{"b":[[{"c":null,"c":null}]]}]', "1.b.0.0.c"),
        (rb'{"a":{"\ud800":1,"\udfff":2}}', "a.\N{REPLACEMENT CHARACTER}"),
        (rb'{"\u0061":1,"a":2}', "a"),
        (rb'{"x\u0000y":1,"x\u0000y":2}', r"x\x00y"),
    ],
)
def test_a_duplicate_key_is_refused_by_its_path(raw: bytes, path: str) -> None:
    with pytest.raises(InvalidEventError) as refusal:
        strict_json.parse(raw)

    assert str(refusal.value) == f"{path}: duplicate key"
    assert not isinstance(refusal.value, MalformedJsonError)


def test_the_first_of_several_faults_is_named() -> None:
    with pytest.raises(InvalidEventError, match=r"^a\.b: the number is out of range"):
        strict_json.parse(b'{"a":{"b":1e999,"c":{"d":1,"d":2}}}')


def test_a_long_path_is_shortened() -> None:
    key = "k" * 100_000

    with pytest.raises(InvalidEventError) as refusal:
        strict_json.parse(json.dumps({"a": 1}).replace('"a": 1', f'"{key}":1,"{key}":2').encode())

    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("raw", [rb'"\ud800"', rb'"\udc00"', rb'"\uD800"', rb'"\udBfF"'])
def test_a_lone_surrogate_escape_is_read_as_the_replacement_character(raw: bytes) -> None:
    assert strict_json.parse(raw) == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ud800\u0041"', "\ufffdA"),
        (rb'"\ud800\ud83d\ude00"', "\ufffd😀"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\\ud800"', r"\ud800"),
        (rb'"\\\ud800"', "\\\ufffd"),
        (rb'"\ud83d\\ude00"', "\ufffd\\ude00"),
    ],
)
def test_only_adjacent_surrogates_are_a_pair(raw: bytes, text: str) -> None:
    assert strict_json.parse(raw) == text


@pytest.mark.parametrize(
    ("raw", "position"),
    [
        (b"", "character 0"),
        (b"{", "character 1"),
        (b'{"a":1} x', "character 8"),
        (b'{"a":1}{"b":2}', "character 7"),
        (b'{"a":"\x00"}', "character 6"),
        (b'{"a":1}\x00', "character 7"),
        (b'{"a":"\n"}', "character 6"),
        (b"[1 2]", "character 3"),
        (b"[01]", "character 2"),
        (b"{'a':1}", "character 1"),
        (rb'"\ud8zz"', "character 2"),
        (b'{"a":1,"a":2', "character 12"),
        (b'{"a":"\xff"}', "byte 6"),
        (b'"\xed\xa0\x80"', "byte 1"),
        (b'"\xc0\x80"', "byte 1"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ("{}".encode("utf-16"), "byte 0"),
    ],
)
def test_text_that_is_not_json_is_refused_with_its_position(raw: bytes, position: str) -> None:
    with pytest.raises(MalformedJsonError, match=position):
        strict_json.parse(raw)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_refused_by_their_path(name: str) -> None:
    with pytest.raises(MalformedJsonError, match=f"^a.1: {name} is not JSON$"):
        strict_json.parse(f'{{"a":[1,{name}]}}'.encode())


def test_an_integer_of_400_digits_keeps_every_digit() -> None:
    literal = "7" * 400

    assert json.dumps(strict_json.parse(literal.encode())) == literal


@pytest.mark.parametrize(
    "literal", ["1" * 5_000, "-" + "1" * 5_000, "1e400", "-1e400", "1" * 400 + ".5", "1e-400", "0.1E-999"]
)
def test_a_number_out_of_range_is_refused_by_its_path(literal: str) -> None:
    with pytest.raises(InvalidEventError, match=r"^a\.0\.b: the number is out of range") as refusal:
        strict_json.parse(f'{{"a":[{{"b":{literal}}}]}}'.encode())

    assert literal not in str(refusal.value)


@pytest.mark.parametrize("literal", ["0.0", "-0.0", "0e5", "0.000E-999", "5e-324", "1.7976931348623157e308"])
def test_the_smallest_and_largest_numbers_are_read(literal: str) -> None:
    number = strict_json.parse(literal.encode())

    assert isinstance(number, float)
    assert math.isfinite(number)
    assert (number == 0) == literal.startswith(("0", "-0"))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_refused_beyond_a_fixed_depth(opening: str, closing: str) -> None:
    def nested(levels: int) -> bytes:
        core = "[]" if opening == "[" else "{}"
        return (opening * (levels - 1) + core + closing * (levels - 1)).encode()

    strict_json.parse(nested(strict_json.MAX_DEPTH))

    with pytest.raises(MalformedJsonError, match=f"at character {len(opening) * strict_json.MAX_DEPTH}$"):
        strict_json.parse(nested(strict_json.MAX_DEPTH + 1))


@pytest.mark.parametrize("raw", [b"[" * 200_000, b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000])
def test_200_000_open_brackets_are_refused(raw: bytes) -> None:
    with pytest.raises(MalformedJsonError, match="levels deep at character"):
        strict_json.parse(raw)


def test_the_depth_limit_holds_with_a_caller_deep_in_its_stack() -> None:
    raw = b"[" * strict_json.MAX_DEPTH + b"]" * strict_json.MAX_DEPTH

    def parse_below(frames: int) -> strict_json.Json:
        return parse_below(frames - 1) if frames else strict_json.parse(raw)

    parse_below((sys.getrecursionlimit() - strict_json.MAX_DEPTH) // 2)


def test_brackets_in_strings_do_not_count_as_depth() -> None:
    text = "[{" * 1_000 + '\\"['

    assert strict_json.parse(json.dumps([text]).encode()) == [text]
    assert strict_json.parse(json.dumps(text).encode()) == text


def test_many_shallow_objects_do_not_count_as_depth() -> None:
    value: strict_json.Json = [{"a": [str(number)]} for number in range(2_000)]

    assert strict_json.parse(json.dumps(value).encode()) == value


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_compact_json_is_read_the_same_as_with_white_space(value: object) -> None:
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    assert _outcome(compact) == _outcome(f" {compact}") == _slow_outcome(compact)


_WHITE = st.sampled_from(["", " ", "  ", "\n  ", "\t", "\r\n"])
_MEMBERS = st.lists(
    st.tuples(
        st.sampled_from(['"a b"', '"ab"', '"\\" "', '""', '"\\u0041"']), st.sampled_from(["1", "1.0", '" "', "[ ]"])
    ),
    max_size=4,
)


@given(_MEMBERS, st.lists(_WHITE, min_size=4, max_size=4))
def test_white_space_hides_neither_a_duplicate_key_nor_a_number_that_would_change(
    members: list[tuple[str, str]], white: list[str]
) -> None:
    before, after_key, before_value, after = white
    written = f"{after},{before}".join(f"{key}{after_key}:{before_value}{value}" for key, value in members)
    text = f"{before}{{{written}}}{after}"

    assert _outcome(text) == _slow_outcome(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '{"a":-0}', '{"a":1e400}', '{"a":1e-400}', "18446744073709551616", "1.10"]
)
def test_text_that_would_not_be_written_back_the_same_is_read_the_slow_way(text: str) -> None:
    assert _outcome(text) == _outcome(f" {text}") == _slow_outcome(text)


def _slow_outcome(text: str) -> object:
    return _outcome(text, strict_json.reader(int, strict_json._finite))


def _outcome(text: str, read: Callable[[bytes], object] = strict_json.parse) -> object:
    try:
        return read(text.encode(errors="replace"))
    except InvalidEventError as refusal:
        return type(refusal)
