"""The canonical form, against the vectors and against a second implementation."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidEventError, MalformedJsonError
from headwater.model.strict_json import MAX_DEPTH
from headwater.signing.canonical import canonical
from tests.support.signature_vectors import Vectors
from tests.support.slow_canonical import slow_canonical

SPACE = st.sampled_from(["", "", "", " ", "\n", "\t\r\n "])
CHARACTERS = st.sampled_from(list('ab<>&/"\\é名😀\u007f\u2028\u2029\uffff\n\b\x00\x1f\ue000')) | st.characters(
    codec="utf-8"
)
ESCAPES = st.sampled_from([r"\n", r"\/", r"\"", r"\\ud800", r"\u0000", r"\u0041", r"\u003C", r"\u003c", r"\u2028"]) | (
    st.sampled_from([r"\u000b", r"\u000B", r"\ud83d\ude00", r"\uD83D\uDE00", r"\ud800", r"\uDFFF", r"\udc00\ud800"])
    | st.sampled_from([r"\ud800\u0041", r"\ud800\ud83d\ude00"])
)
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)


def _literal(character: str) -> str:
    return json.dumps(character, ensure_ascii=False)[1:-1]


STRINGS = st.lists(ESCAPES | CHARACTERS.map(_literal), max_size=6).map(lambda parts: '"' + "".join(parts) + '"')


def _spaced(parts: list[str], space: str) -> str:
    return space.join(parts)


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.builds(lambda key, space, value: _spaced([key, ":", value], space), STRINGS, SPACE, inner)
    objects = st.builds(lambda parts, space: _spaced(["{", ",".join(parts), "}"], space), st.lists(member), SPACE)
    arrays = st.builds(lambda parts, space: _spaced(["[", ",".join(parts), "]"], space), st.lists(inner), SPACE)
    return objects | arrays


TEXTS = st.recursive(STRINGS | NUMBERS | st.sampled_from(["true", "false", "null"]), _containers, max_leaves=12)


def _canonical_or_none(raw: bytes) -> bytes | None:
    try:
        return canonical(raw)
    except InvalidEventError:
        return None


def _slow_canonical_or_none(raw: bytes) -> bytes | None:
    try:
        return slow_canonical(raw)
    except ValueError:
        return None


@given(TEXTS)
def test_it_agrees_with_a_second_implementation(text: str) -> None:
    raw = text.encode()

    assert _canonical_or_none(raw) == _slow_canonical_or_none(raw)


@given(TEXTS, st.randoms(use_true_random=False))
def test_it_agrees_with_a_second_implementation_on_damaged_text(text: str, chance: random.Random) -> None:
    damaged = bytearray(text.encode())
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)

    assert _canonical_or_none(bytes(damaged)) == _slow_canonical_or_none(bytes(damaged))


@given(st.binary() | st.text(alphabet='[]{}",:\\u8aN-+.e01 \n').map(str.encode))
def test_it_agrees_with_a_second_implementation_on_any_bytes(raw: bytes) -> None:
    assert _canonical_or_none(raw) == _slow_canonical_or_none(raw)


@given(TEXTS)
def test_the_canonical_form_of_a_canonical_form_is_the_same(text: str) -> None:
    once = _canonical_or_none(text.encode())

    assert once is None or canonical(once) == once


def test_the_vectors_have_their_canonical_forms(signature_vectors: Vectors) -> None:
    unsigned = [vector for vector in signature_vectors["vectors"] if '"signature"' not in vector["event"]]

    canonical_forms = {vector["id"]: canonical(vector["event"].encode()) for vector in unsigned}

    assert canonical_forms == {vector["id"]: bytes.fromhex(vector["canonicalHex"]) for vector in unsigned}
    assert canonical_forms == {vector["id"]: vector["canonicalUtf8"].encode() for vector in unsigned}
    assert len(canonical_forms) >= 10


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a", "b"),
        ("A", "a"),
        ("", "\x00"),
        ("a", "aa"),
        ("z", "é"),
        ("é", "名"),
        ("\ue000", "😀"),
        ("\uffff", "\U00010000"),
    ],
)
def test_keys_are_sorted_by_their_utf_8_bytes(first: str, second: str) -> None:
    text = canonical(json.dumps({second: 2, first: 1}).encode()).decode()

    assert list(json.loads(text)) == [first, second]
    assert first.encode() < second.encode()


@pytest.mark.parametrize(
    "literal", ["-0", "0.10", "1E5", "1e+05", "1e400", "1e-400", "9" * 400, "9" * 5_000, "1." + "0" * 400]
)
def test_number_literals_stay_as_they_were_written(literal: str) -> None:
    assert canonical(f" [ {literal} ] ".encode()) == f"[{literal}]".encode()


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"run":{"a":1,"a":1}}', "run.a"),
        (rb'{"run":{"\ud800":1,"\udc00":1}}', "run.\ufffd"),
        (rb'{"run":{"a":1,"\u0061":1}}', "run.a"),
    ],
)
def test_a_duplicate_key_is_refused_by_its_path(raw: bytes, path: str) -> None:
    with pytest.raises(InvalidEventError, match=f"^{path}: duplicate key"):
        canonical(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b" ", b"{}{}", b"{} x", b"{},", b"{}\x00", b"[1,]", b"'a'", b"// x\n1"),
        *(b'{"a":NaN}', b"[Infinity]", b"[-Infinity]", b"01", b"+1", b".5", b"1."),
        *(b"\xef\xbb\xbf{}", b'"\xff"', b'"\x00"', b'"\n"'),
        *(b"[" * 200_000, b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000),
    ],
)
def test_text_that_is_not_json_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        canonical(raw)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":[', "]}")])
def test_the_deepest_readable_value_has_a_canonical_form(opening: str, closing: str) -> None:
    levels = MAX_DEPTH // sum(character in "[{" for character in opening)
    raw = (opening * levels + closing * levels).encode()

    assert canonical(raw) == raw
