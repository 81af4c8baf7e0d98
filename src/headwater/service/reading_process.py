"""A process that reads events for a service: `python -m headwater.service.reading_process`.

Messages are pickled, each behind its length in four bytes. On standard input: first whom to trust, then groups of
events, and whom to trust whenever that changes; on standard output the answer to each group, in order. It ends with its
input, so it never outlives the service.
"""

import contextlib
import gc
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.service.reading import Posted, Refusal, Trust, read
from headwater.store.entries import Entry

Group = Sequence[Posted]
Read = Sequence[Entry | Refusal]

LENGTH: Final = 4


def packed_trust(trust: Trust) -> bytes:
    """Whom to trust, as a message."""
    raw_keys = {key_id: key.public_bytes_raw() for key_id, key in trust.keys.items()}
    return packed((trust.is_required, raw_keys, dict(trust.revoked_us)))


def packed(message: object) -> bytes:
    """A message behind its length."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(LENGTH, "big") + body


def main() -> None:
    """Read until the input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the service ends this process, once nothing waits
        signal.signal(number, signal.SIG_IGN)
    gc.set_threshold(50_000)  # events are read and gone; looking for cycles among them costs a third of the reading
    with contextlib.suppress(ConnectionError):  # the service was killed: nobody waits for the answer
        _read_all(_messages(sys.stdin.buffer))


def _read_all(messages: Iterator) -> None:  # type: ignore[type-arg]  # two kinds, one behind the other
    trust = Trust({}, is_required=True)  # until it is told
    for message in messages:
        if isinstance(message, tuple):
            trust = _trust(*message)
        else:
            sys.stdout.buffer.write(packed([read(posted, trust) for posted in message]))
            sys.stdout.buffer.flush()


def _trust(is_required: bool, raw_keys: Mapping[str, bytes], revoked_us: Mapping[str, int]) -> Trust:
    keys = {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in raw_keys.items()}
    return Trust(keys, is_required, revoked_us)


def _messages(stream: BinaryIO) -> Iterator:  # type: ignore[type-arg]  # two kinds, one behind the other
    while length := stream.read(LENGTH):
        yield pickle.loads(stream.read(int.from_bytes(length, "big")))  # noqa: S301  the service wrote it


if __name__ == "__main__":
    main()
