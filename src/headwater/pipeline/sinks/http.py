"""Sends rows to an API in batches: at least once, in Spark's order.

Spark first writes the rows to local files, which are then sent one by one. So the number of rows is not limited, no row
is computed twice however often a call is retried, and Spark counts them like those of any file. (The alternative,
`toLocalIterator`, ignores the session's settings: for a filtered JSON file it does not count the rows filtered out.)
"""

import hashlib
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.pipeline.http.call import caller_of
from headwater.pipeline.spec import HttpOutput


def send_rows(frame: DataFrame, writes: HttpOutput) -> None:
    """Send all rows.

    A retried call has the same `Idempotency-Key`, the digest of its body: an API that respects it stores each row once.

    Raises:
        InvalidInputError: the API refused a call.
        UnavailableError: it did not answer, or failed, in all attempts; the rows of earlier calls stay sent.
        SetupError: an environment variable that `auth` names is not set.
    """
    content_type = "application/json" if writes.format == "json" else "application/x-ndjson"
    with caller_of(writes) as caller, tempfile.TemporaryDirectory(prefix="headwater-http-") as folder:
        as_json = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
        frame.select(as_json.alias("value")).write.mode("append").text(f"file://{folder}")
        rows = _lines(Path(folder))
        while batch := list(islice(rows, writes.batch_size)):
            body = _body(batch, writes)
            key = hashlib.sha256(body).hexdigest()
            caller.send(writes.method, body, {"Content-Type": content_type, "Idempotency-Key": key})


def _lines(folder: Path) -> Iterator[bytes]:
    for part in sorted(folder.glob("part-*")):
        with part.open("rb") as lines:
            for line in lines:
                yield line.rstrip(b"\n")


def _body(batch: list[bytes], writes: HttpOutput) -> bytes:
    return b"[" + b",".join(batch) + b"]" if writes.format == "json" else b"\n".join(batch) + b"\n"
