"""Strips credentials from addresses.

Headwater's own events never contain any, since the log is permanent. Other producers send them in names, facets and
messages. The log keeps the received bytes unchanged; everything that is parsed from them is stripped.
"""

import re
from typing import Any, Final

_PASSWORD: Final = re.compile(
    r"(?<=//)(?:(?=[^/?#]*@)[^/?#@:\[]*(?::|%3[Aa])[^/?#]*@"  # a password may hold an @
    r"|[^/?#@:\[]*(?::|%3[Aa])(?!(?:\d+|[Nn]one)?(?:[/?#,]|$)).*@)"  # or a slash, if no port stands there
    r"|(?i:(?<=http://)|(?<=https://))[^/?#@\s]*@"  # there a user alone may be a token
)
_USER: Final = re.compile(r"(?<=//)[^/?#;]*@")
_JDBC_USER: Final = re.compile(r"((?:\A|(?<=[?;]))(?>[^?;]*?//))[^?;]*@")
"""In these a password may contain slashes; it begins after the first ones."""
_ORACLE_USER: Final = re.compile(r"((?:\A|(?<=[@?]))(?>[^@?]*?:thin:))[^@?]+(?=@)", re.IGNORECASE)
"""Oracle's JDBC URL has it before the address."""
SENSITIVE_KEY: Final = (
    r"(?:sig|pw|pass|[\w.-]{0,60}(?:password|passwd|pwd|passphrase|secret|token|credential|signature"
    r"|(?:access|account|api|private)[_-]?key)[\w.-]{0,60})"
)
"""The names of options that hold a secret, in any case."""
_SECRET: Final = re.compile(
    rf"(?i)(?<=[?&;:]){SENSITIVE_KEY}=(?:\{{[^}}]*(?:\}}|\Z)|[^&;]*)[&;]?|\({SENSITIVE_KEY}=[^)]*(?:\)|\Z)"
)
_USER_OPTION: Final = re.compile(r"(?i)(?<=[?&;:])(?:user|username|uid)=[^&;]*[&;]?|\(user=[^)]*(?:\)|\Z)")
_CONTAINERS: Final = re.compile(r"(?i)(?:abfs|wasb)s?:")
"""Azure's addresses, with a container before the @."""

_BEGINS_AS_ADDRESS: Final = re.compile(r"(?i)jdbc:|[a-z][a-z0-9+.-]*://")
_ADDRESS: Final = re.compile(r"(?<![A-Za-z0-9+.-])([0-9+.-]*+)([A-Za-z][A-Za-z0-9+.-]*+:[^\s\"'<>`]+)")
_VALUE_IN_JSON: Final = re.compile(rb'=(?!["=])')
"""An option has a value; base64 padding has none, and is in every signature."""
_USER_IN_JSON: Final = re.compile(rb'/(?:[^"/\\]|\\.)*@')
_OPTION_IN_JSON: Final = re.compile(
    rb"(?i)[?&;:(][\w.\\\x80-\xff-]{0,720}(?:pass|pwd|pw|secret|token|credential|sig|key|user|uid)"
    rb"[\w.\\\x80-\xff-]{0,720}="
)
"""As `SENSITIVE_KEY`; a letter beyond ASCII has up to 12 bytes, as an escape."""
_ESCAPED: Final = rb"\u00"
"""Some programs escape @, = and & like this."""
_MOST_PASSES: Final = 8


def without_credentials(url: str) -> str:
    """The address, without user and password in front of the host, and without options that hold them.

    >>> without_credentials("jdbc:postgresql://ann:s3cret@db:5432/shop?password=s3cret&ssl=true")
    'jdbc:postgresql://db:5432/shop?ssl=true'
    """
    stripped = _stripped(url)
    if not _CONTAINERS.match(url):
        stripped = _USER.sub("", stripped)
    return _tidied(_USER_OPTION.sub("", stripped))


def fits_a_header(secret: str) -> bool:
    """Whether an HTTP header can carry it: not empty, visible ASCII only.

    >>> fits_a_header("hw_7a"), fits_a_header("two words"), fits_a_header("")
    (True, False, False)
    """
    return bool(secret) and all("!" <= character <= "~" for character in secret)


def is_address(text: str) -> bool:
    """Whether the text begins like an address, including JDBC's.

    >>> is_address("jdbc:oracle:thin:@db:1521/ORCL"), is_address("s3://lake/raw"), is_address("raw-(.*)?")
    (True, True, False)
    """
    return _BEGINS_AS_ADDRESS.match(text) is not None


def without_secrets(text: str) -> str:
    """A name, an address or prose, without the passwords in its addresses and the users that these are of.

    A user without a password opens nothing, and stays.

    >>> without_secrets("s3://KEY:SECRET@lake"), without_secrets("abfss://lake@account.dfs.core.windows.net")
    ('s3://lake', 'abfss://lake@account.dfs.core.windows.net')
    >>> without_secrets("no route to postgres://ann:s3cret@db:5432/shop, ann@db was informed")
    'no route to postgres://db:5432/shop, ann@db was informed'
    """
    if "@" not in text and "=" not in text:  # nearly all
        return text
    for _ in range(_MOST_PASSES):  # what is left is a name: to be stripped again must not make it another
        if (stripped := _without(text)) == text:
            break
        text = stripped
    return text


def without_secrets_in(value: Any) -> Any:  # noqa: ANN401  any JSON
    """As `without_secrets`, for every text in a JSON value; keys are left as they are."""
    match value:
        case str():
            return without_secrets(value)
        case dict():
            return {key: without_secrets_in(each) for key, each in value.items()}
        case list():
            return [without_secrets_in(each) for each in value]
    return value


def may_hold_secrets(text: bytes) -> bool:
    """Whether a JSON text may contain a secret; usually exact, and much faster than the real check."""
    if b"@" in text and _USER_IN_JSON.search(text) is not None:
        return True
    if b"=" in text and _VALUE_IN_JSON.search(text) is not None and _OPTION_IN_JSON.search(text) is not None:
        return True
    return _ESCAPED in text


def _without(text: str) -> str:
    if is_address(text) or not any(map(str.isspace, text)):
        return _stripped(text)
    if "//" not in text and "jdbc:" not in text.lower():
        return text
    return _ADDRESS.sub(lambda found: found[1] + _stripped(found[2]), text)


def _stripped(address: str) -> str:
    is_jdbc = "jdbc:" in address[:5].lower()
    stripped = _without_user(address, is_jdbc=is_jdbc)
    without = _SECRET.sub("", stripped)
    if is_jdbc or without != stripped:
        without = _USER_OPTION.sub("", without)
    return _tidied(without) if without != stripped else without


def _without_user(address: str, *, is_jdbc: bool) -> str:
    """The address without the part before an @; text after the last @ is not rescanned."""
    if not is_jdbc:
        return "\n".join(map(_without_password, address.split("\n")))
    end = address.rfind("@") + 1
    return _JDBC_USER.sub(r"\1", _ORACLE_USER.sub(r"\1", address[:end])) + address[end:]


def _without_password(line: str) -> str:
    end = line.rfind("@") + 1  # so every match attempt ends, in linear time
    return _PASSWORD.sub("", line[:end]) + line[end:]


def _tidied(address: str) -> str:
    return address.rstrip("?;&")
