"""A process with an emitter, told what to do on its standard input; it answers each line.

    put FIRST LAST   put events with these numbers, both included → "put"
    settle COUNT     wait until so many are on disk, delivered or dropped → "spooled delivered dropped", three numbers
    drain            wait until all is delivered → "True" or "False"
    limit BYTES      no file of this process may grow beyond → "limited"
    close, exit      close the emitter; end without closing it

`python emit_pipeline.py SPOOL URL [FIELD=NUMBER…]` with fields of EmitConfig.
"""

import resource
import sys
import time
from pathlib import Path

from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter

PADDING = "x" * 1000


def told(emitter: Emitter, word: str, numbers: list[int]) -> str:
    match word:
        case "put":
            for n in range(numbers[0], numbers[1] + 1):
                emitter.put(b'{"n":%d,"padding":"%b"}' % (n, PADDING.encode()))
            return "put"
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
    settings = {name: float(value) for name, _, value in (field.partition("=") for field in fields)}
    config = EmitConfig(spool=Path(spool), http=HttpConfig(endpoint=url), **settings)
    emitter = Emitter(config, sign=bytes)
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "exit":
            return
        print(told(emitter, word, list(map(int, numbers))), flush=True)  # noqa: T201


main()
