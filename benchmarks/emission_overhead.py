"""What telling costs: the demo's three pipelines over the real flights, with lineage on and off, in turns.

    .venv/bin/python benchmarks/emission_overhead.py [--pairs 5] [--limit 1.03]

One JVM runs everything, after three rounds of each kind that are not counted, so that compilation and class loading
fall on neither side. A pair is all three pipelines with lineage and all three without; who begins changes from pair to
pair, since the second of two enjoys warmer caches. On the side with lineage everything counts that `headwater run` does
for it: the emitter's threads, the plan, the counters, signing, posting to a service in another process, and waiting at
the end until all are delivered. Exit status 1 where the median ratio is above the limit. Other work on the machine
shows as ratios that scatter: measure on a quiet one.
"""

import argparse
import contextlib
import http.server
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from openlineage.client.uuid import generate_new_uuid
from pyspark.sql import SparkSession

from headwater.cli.demo.data import lay_out
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.run import Surroundings, run_pipeline
from headwater.pipeline.session import open_session
from headwater.signing.keyfile import load_or_create
from headwater.signing.sign import sign_event

Times = dict[str, float]

WARM_UP_ROUNDS: Final = 3


def main() -> int:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder, _service() as endpoint:
        home = Path(folder)
        files = lay_out(home / "demo")
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        for lineage in (True, False) * WARM_UP_ROUNDS:
            _round(files, home, spark, endpoint if lineage else None)
        pairs = [_pair(files, home, spark, endpoint, lineage_first=number % 2 == 0) for number in range(options.pairs)]
        spark.stop()
    return _report(pairs, options.limit)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve()
    return options


def _pair(
    files: list[Path], home: Path, spark: SparkSession, endpoint: str, *, lineage_first: bool
) -> tuple[Times, Times]:
    """Seconds by pipeline, with lineage and without."""
    if lineage_first:
        told = _round(files, home, spark, endpoint)
        silent = _round(files, home, spark, None)
    else:
        silent = _round(files, home, spark, None)
        told = _round(files, home, spark, endpoint)
    print(
        f"  with {sum(told.values()):6.2f} s   without {sum(silent.values()):6.2f} s   {_ratio(told, silent):.3f}",
        flush=True,
    )
    return told, silent


def _round(files: list[Path], home: Path, spark: SparkSession, endpoint: str | None) -> Times:
    return {file.stem: _seconds(file, home, spark, endpoint) for file in files}


def _seconds(file: Path, home: Path, spark: SparkSession, endpoint: str | None) -> float:
    spec = load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"})
    begun = time.perf_counter()
    with contextlib.ExitStack() as open_things:
        put = open_things.enter_context(_emitter(home, endpoint)).put if endpoint else _unexpected
        around = Surroundings(
            home=home,
            put=put,
            now=lambda: datetime.now(UTC),
            new_run_id=lambda: str(generate_new_uuid()),
            node_id="bench",
        )
        result = run_pipeline(spec, spark, around)
    if result.state != "COMPLETE":
        raise SystemExit(f"{file.name}: {result.error}")
    return time.perf_counter() - begun


def _emitter(home: Path, endpoint: str) -> Emitter:
    key = load_or_create(home)
    config = EmitConfig(http=HttpConfig(endpoint=endpoint), spool=home / "spool", drain_timeout_s=60)
    return Emitter(config, lambda event: sign_event(event, key))


def _unexpected(_event: bytes) -> None:
    raise AssertionError("an event with lineage off")


def _ratio(told: Times, silent: Times) -> float:
    return sum(told.values()) / sum(silent.values())


def _report(pairs: list[tuple[Times, Times]], limit: float) -> int:
    for name in pairs[0][0]:
        with_lineage = statistics.median(told[name] for told, _ in pairs)
        without = statistics.median(silent[name] for _, silent in pairs)
        ratio = statistics.median(told[name] / silent[name] for told, silent in pairs)
        print(f"{name:16} with {with_lineage:6.2f} s   without {without:6.2f} s   median ratio {ratio:.3f}")
    median = statistics.median(_ratio(told, silent) for told, silent in pairs)
    print(f"{'all three':16} median ratio of {len(pairs)} pairs {median:.3f}, limit {limit}")
    return 0 if median <= limit else 1


@contextlib.contextmanager
def _service() -> Iterator[str]:
    """A process that takes every post; yields where."""
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None  # noqa: S101
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(10)
        if server.stdout is not None:
            server.stdout.close()


class _Created(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the event, answer 201."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _serve() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Created) as server:
        print(f"http://127.0.0.1:{server.server_port}/api/v1/lineage", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
