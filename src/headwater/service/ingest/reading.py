"""Reading an event: parse, verify, extract facts, pack for the store.

Pure, so it can run in another process. Most of the cost of an event is here.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidEventError, UntrustedEventError
from headwater.model.events import DatasetEvent, DatasetRef, Event, RunEvent, parse_event
from headwater.model.facts import Alias, Fact
from headwater.model.heartbeat import NODES
from headwater.model.times import AFTER_ALL_US
from headwater.service.ingest.remedies import remedy
from headwater.signing.directory import node_of
from headwater.signing.facet import SIGNATURE, begin_of_signature
from headwater.signing.verify import UNSIGNED, Claim, Verification, as_revoked, verify_event
from headwater.store.entries import Entry, entry_of

log = logging.getLogger(__name__)

Refusal = InvalidEventError | UntrustedEventError
"""Why an event is refused."""

_MOST_NAMES: Final = 10_000
"""Limit on an event's datasets and their aliases together: learning so many blocks the event loop for a second, and
100,000 took twelve."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys whose signatures are accepted, and whether a signature is required.

    `revoked_us` gives the time from which a key is revoked, in microseconds since 1970.
    """

    keys: Mapping[str, Ed25519PublicKey]
    is_required: bool
    revoked_us: Mapping[str, int] = field(default_factory=dict)


Posted = tuple[bytes, int, bytes]
"""An event's bytes, when they were received (microseconds since 1970), and random bytes for its leaf."""


def read(posted: Posted, trust: Trust) -> Entry | Refusal:
    """Read an event; returns the refusal if it cannot be taken.

    An unexpected error is a refusal too, not something to retry: the retry would fail the same way, and hold up all
    events queued behind it at the sender.
    """
    raw, received_us, salt = posted
    try:
        event = _parsed(raw)
        verified = _verified(event, trust, received_us)
        _refuse_false_names(event, verified)
        entry = entry_of(event, verified.verdict, verified.key_id, received_us, salt)
        _refuse_too_many_names(event, entry.facts)
        return entry
    except (InvalidEventError, UntrustedEventError) as refusal:
        return refusal
    except MemoryError:
        raise
    except Exception:
        digest = sha256(raw).hexdigest()
        log.exception("cannot read an event: internal error", extra={"digest": digest, "bytes": len(raw)})
        return InvalidEventError(f"event: internal error; see the service's log, digest {digest}")


def _parsed(raw: bytes) -> Event:
    if not raw or raw.isspace():
        raise InvalidEventError("event: the body is empty", ("body",))
    event = parse_event(raw)
    if not isinstance(event, RunEvent) and event.lacking:
        raise InvalidEventError(f"{event.lacking[0]}: is required", event.lacking)
    return event


def _refuse_false_names(event: Event, verified: Verification) -> None:
    """Only a node itself may report on its own job.

    Raises:
        UntrustedEventError: the event is about such a job, and that node did not sign it. The key need not be trusted,
            as a service may not know it yet.
    """
    if isinstance(event, DatasetEvent) or event.job.namespace != NODES:
        return
    is_signed = verified.verdict in ("ok", "unknown-key") and verified.key_id is not None
    if not is_signed or node_of(verified.key_id or "") != event.job.name:
        raise UntrustedEventError(
            f"job.namespace: {NODES} is for nodes' events about themselves; node {event.job.name!r} did not sign this"
        )


def _refuse_too_many_names(event: Event, event_facts: Sequence[Fact]) -> None:
    """Limit the names in one event; a sender can split them over several events.

    Raises:
        InvalidEventError: the event names too many datasets; the field is the one with the most.
    """
    if len(event_facts) <= _MOST_NAMES:  # a name is a fact at least
        return
    aliases = Counter(fact.name for fact in event_facts if isinstance(fact, Alias))
    sides: dict[str, Sequence[DatasetRef]]
    if isinstance(event, DatasetEvent):
        sides = {"dataset": [event.dataset]}
    else:
        sides = {"inputs": event.inputs, "outputs": event.outputs}
    if sum(map(len, sides.values())) + aliases.total() <= _MOST_NAMES:
        return
    counts = {side: len(datasets) for side, datasets in sides.items()}
    for side, datasets in sides.items():
        for number, dataset in enumerate(datasets):
            path = side if isinstance(event, DatasetEvent) else f"{side}.{number}"
            counts[f"{path}.facets.symlinks.identifiers"] = aliases[dataset.id]
    most = max(counts, key=counts.__getitem__)
    raise InvalidEventError(
        f"{most}: an event may hold {_MOST_NAMES:,} datasets and aliases of these, and this one has "
        f"{counts[most]:,} here: split it into several events"
    )


def _verified(event: Event, trust: Trust, received_us: int) -> Verification:
    verified = UNSIGNED
    if isinstance(event, RunEvent) and (facet := event.run_facets.get(SIGNATURE)) is not None:
        verified = verify_event(
            event.raw, trust.keys, Claim(facet, event.producer, begin_of_signature(event.facet_spans or ()))
        )
    if verified.verdict == "ok" and max(event.stamp.time_us, received_us) >= trust.revoked_us.get(
        verified.key_id or "", AFTER_ALL_US
    ):  # by arrival too, as the thief of a key can write any event time
        verified = as_revoked(verified)
    if trust.is_required and verified.verdict != "ok":
        is_retriable = (
            verified.verdict == "unknown-key" and verified.key_id not in trust.keys
        )  # it may be enrolled later
        fault = f"{verified.verdict}: {verified.reason}; {remedy(verified.verdict)}"
        raise UntrustedEventError(fault, is_retriable=is_retriable)
    return verified
