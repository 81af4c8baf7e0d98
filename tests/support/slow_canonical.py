"""An independent implementation of the canonical form, one character at a time, to compare the package with."""

import re

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WRITTEN_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def slow_canonical(raw: bytes) -> bytes:
    """Return the canonical form, or raise ValueError (UnicodeDecodeError is one)."""
    document = _Document(raw.decode("utf-8"))
    written = document.value()
    document.skip_space()
    if document.place != len(document.text):
        raise ValueError("text after the end")
    return written.encode("utf-8")


class _Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def skip_space(self) -> None:
        while self.text[self.place : self.place + 1] in (" ", "\t", "\n", "\r"):
            self.place += 1

    def peek(self) -> str:
        self.skip_space()
        return self.text[self.place : self.place + 1]

    def take(self, expected: str) -> None:
        if not self.text.startswith(expected, self.place):
            raise ValueError(f"expected {expected} at {self.place}")
        self.place += len(expected)

    def value(self) -> str:
        first = self.peek()
        if first == "{":
            return self.object()
        if first == "[":
            return self.array()
        if first == '"':
            return written(self.string())
        for word in ("true", "false", "null"):
            if self.text.startswith(word, self.place):
                self.place += len(word)
                return word
        number = _NUMBER.match(self.text, self.place)
        if not number:
            raise ValueError(f"no value at {self.place}")
        self.place = number.end()
        return number[0]

    def object(self) -> str:
        self.take("{")
        members: dict[str, str] = {}
        while self.peek() != "}":
            if members:
                self.take(",")
            if self.peek() != '"':
                raise ValueError(f"no key at {self.place}")
            key = self.string()
            if key in members:
                raise ValueError("a duplicate key")
            self.skip_space()
            self.take(":")
            members[key] = self.value()
        self.take("}")
        in_order = sorted(members.items(), key=lambda member: member[0].encode("utf-8"))
        return "{" + ",".join(f"{written(key)}:{value}" for key, value in in_order) + "}"

    def array(self) -> str:
        self.take("[")
        values: list[str] = []
        while self.peek() != "]":
            if values:
                self.take(",")
            values.append(self.value())
        self.take("]")
        return "[" + ",".join(values) + "]"

    def string(self) -> str:
        self.take('"')
        units: list[str] = []
        while (character := self.text[self.place : self.place + 1]) != '"':
            if character < " ":  # also at the end of the text
                raise ValueError(f"no string character at {self.place}")
            self.place += 1
            units.append(self.escaped() if character == "\\" else character)
        self.take('"')
        return paired(units)

    def escaped(self) -> str:
        kind = self.text[self.place : self.place + 1]
        self.place += 1
        if kind != "u":
            if kind not in _SHORT:
                raise ValueError(f"no escape at {self.place}")
            return _SHORT[kind]
        digits = self.text[self.place : self.place + 4]
        if len(digits) != 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise ValueError(f"no hex digits at {self.place}")
        self.place += 4
        return chr(int(digits, 16))


def paired(units: list[str]) -> str:
    """Join adjacent UTF-16 surrogates; any other becomes U+FFFD."""
    joined: list[str] = []
    place = 0
    while place < len(units):
        pair = "".join(units[place : place + 2])
        if len(pair) == 2 and "\ud800" <= pair[0] <= "\udbff" and "\udc00" <= pair[1] <= "\udfff":
            joined.append(chr(0x10000 + ((ord(pair[0]) - 0xD800) << 10) + ord(pair[1]) - 0xDC00))
            place += 2
            continue
        joined.append("\ufffd" if "\ud800" <= units[place] <= "\udfff" else units[place])
        place += 1
    return "".join(joined)


def written(text: str) -> str:
    """Write a string with the escapes of the canonical form."""
    return '"' + "".join(_written(character) for character in text) + '"'


def _written(character: str) -> str:
    if character in _WRITTEN_SHORT:
        return _WRITTEN_SHORT[character]
    if character < " " or character in "<>&\u2028\u2029":
        return f"\\u{ord(character):04x}"
    return character
