r"""The canonical form of a JSON text: the bytes that digests and signatures cover.

Two texts have the same canonical form if they say the same thing in another order, spacing or escaping:

>>> canonical(rb'{ "b": 1.50, "a": "\u0041 < \/" }')
b'{"a":"A \\u003c /","b":1.50}'

It is UTF-8 with keys sorted by their UTF-8 bytes and no white space. Number literals stay as they were written. Strings
are escaped as `\" \\ \b \f \n \r \t`, other controls as `\u00xx`, `<` `>` `&` U+2028 U+2029 as `\u` and four lower-case
digits; everything else is literal. Vectors: `conformance/signature.json`.
"""

from typing import Final

import orjson

from headwater.model import strict_json


def canonical(raw: bytes) -> bytes:
    """Return the canonical form of a JSON text.

    Raises:
        MalformedJsonError: not JSON, or nested deeper than `strict_json.MAX_DEPTH`.
        InvalidEventError: a duplicate key.
    """
    return write(read(raw))


read: Final = strict_json.reader(parse_int=orjson.Fragment, parse_float=orjson.Fragment)
"""Read JSON with numbers as their literal text; raises as `canonical` does."""


def write(value: object) -> bytes:
    """Write a value of dicts, lists, strings, booleans, None and numbers as `read` returns them, in canonical form."""
    return strict_json.escaped(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
