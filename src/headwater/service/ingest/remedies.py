"""Messages for the sender of an event whose signature is not accepted."""

from collections.abc import Mapping
from typing import Final

from headwater.signing.directory import node_of

_AS_SIGNED: Final = "send it byte for byte as it was signed"
_REMEDIES: Final[Mapping[str, str]] = {
    "unknown-key": "enrol a key with `headwater key enrol` on its node (docs/trust.md)",
    "unsigned": "send it through an emitter with a key (docs/trust.md)",
}


def remedy(verdict: str) -> str:
    """What to do so that such an event is accepted. Short, as emitters keep 200 characters of an answer."""
    return _REMEDIES.get(verdict, _AS_SIGNED)


def found(verdict: str, key_id: str | None) -> str:
    """How an event is signed that is not signed by a node its sender may post for."""
    if verdict == "ok" and key_id is not None:
        return f"node {node_of(key_id)} signed it"
    return f"it is {verdict}: {remedy(verdict)}"
