"""The run id of a Flink job, as the OpenLineage listener makes it."""

import hashlib
from datetime import UTC, datetime

from headwater.model.run_ids import run_id


def run_of_job(job_id: str, started_ms: int) -> str:
    """The run id that openlineage-flink gives a job with `openlineage.flink.enableDetachedJobTracking`.

    Args:
        job_id: 32 hex digits, as Flink's REST API gives them.
        started_ms: `start-time` of the job in Flink's REST API, milliseconds since 1970.

    Source: openlineage-java 1.53.0, `UUIDUtils.generateStaticUUID(Instant, byte[])`; the example was recorded of it

    >>> run_of_job("edff2bd142af505b67ed5c6fa83db9ab", 1795252510980)
    '01a1fd63-6104-72d6-a825-d5132f7ddac9'
    """
    digest = int.from_bytes(
        hashlib.sha1(f"{_instant(started_ms)}{job_id}".encode(), usedforsecurity=False).digest()[:16]
    )
    high, low = digest >> 64, digest & ((1 << 64) - 1)
    # Java takes 12 bits of one word and 62 of the other, not 74 adjacent ones.
    return run_id(started_ms, (high & 0xFFF) << 62 | low & ((1 << 62) - 1))


def _instant(unix_ms: int) -> str:
    """The time as Java's `Instant.toString` writes it: without a fraction if that is 0.

    >>> _instant(1795252510980), _instant(1795252510000)
    ('2026-11-21T09:15:10.980Z', '2026-11-21T09:15:10Z')
    """
    seconds, ms = divmod(unix_ms, 1000)
    whole = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{ms:03d}Z" if ms else f"{whole}Z"
