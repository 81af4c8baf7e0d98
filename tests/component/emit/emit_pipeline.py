"""A process with an emitter, controlled by lines on its standard input; it answers each line.

    put FIRST LAST   put events with these numbers, both included → "put"
    run FIRST LAST   put events of a run with these numbers → "run"
    settle COUNT     wait until so many are on disk, delivered or dropped → "spooled delivered dropped", three numbers
    drain            wait until all is delivered → "True" or "False"
    limit BYTES      no file of this process may grow beyond → "limited"
    close, exit      close the emitter; end without closing it

`python emit_pipeline.py SPOOL URL [FIELD=NUMBER…] [chained=1]` with fields of EmitConfig; chained, its events are
signed with the key of the node `edge-1`, whose seed is 32 zeros.
"""

import resource
import sys
import time
from pathlib import Path
from typing import Any

from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.signing.keys import NodeKey

PADDING = "x" * 1000


def run_command(emitter: Emitter, word: str, numbers: list[int]) -> str:
    match word:
        case "put":
            for n in range(numbers[0], numbers[1] + 1):
                emitter.put(b'{"n":%d,"padding":"%b"}' % (n, PADDING.encode()))
            return "put"
        case "run":
            for n in range(numbers[0], numbers[1] + 1):
                emitter.put(
                    b'{"eventType":"RUNNING","n":%d,"producer":"https://example.org/p","run":{"runId":"r"}}' % n
                )
            return "run"
        case "settle":
            while True:
                stats = emitter.stats()
                found = (stats.spooled, sum(stats.delivered.values()), sum(stats.dropped.values()))
                if sum(found) >= numbers[0]:
                    return " ".join(map(str, found))
                time.sleep(0.005)
        case "drain":
            return str(emitter.drain(30.0))
        case "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (numbers[0], resource.RLIM_INFINITY))
            return "limited"
        case "close":
            emitter.close()
            return "closed"
    raise ValueError(word)


def main() -> None:
    spool, url, *fields = sys.argv[1:]
    settings: dict[str, Any] = {name: float(value) for name, _, value in (field.partition("=") for field in fields)}
    chained = settings.pop("chained", 0)
    config = EmitConfig(spool=Path(spool), http=HttpConfig(endpoint=url), **settings)
    emitter = Emitter.of_node(config, NodeKey.from_seed("edge-1", bytes(32))) if chained else Emitter(config, bytes)
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "exit":
            return
        print(run_command(emitter, word, list(map(int, numbers))), flush=True)  # noqa: T201


main()
