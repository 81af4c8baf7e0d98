"""`headwater.run`: one START, and one end, whatever happens in the block."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.emission import opened_emitter
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.emit.spool_paths import is_anything_waiting
from headwater.errors import InvalidNameError
from headwater.explicit import ExplicitRun, Flows
from headwater.model.names import JobId
from headwater.signing.keyfile import load_or_create
from tests.support.ports import free_port
from tests.support.spec import Specification

Event = dict[str, Any]


@pytest.fixture
def event_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that events are written to."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    return tmp_path / "events.jsonl"


def events(file: Path) -> list[Event]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def now() -> datetime:
    return datetime.now(UTC)


def states(file: Path) -> list[str]:
    return [event["eventType"] for event in events(file)]


def test_a_block_that_ends_completes_its_run_with_inputs_and_outputs(event_file: Path, shared: Path) -> None:
    with headwater.run("load", namespace="etl", inputs=["s3a://raw/orders/"], file=event_file) as run:
        run.writes(("postgres://db:5432", "shop.public.orders"), "kafka://broker:9092/orders")
        run.running()

    start, running, complete = events(event_file)
    assert [start["eventType"], running["eventType"], complete["eventType"]] == ["START", "RUNNING", "COMPLETE"]
    assert (complete["job"]["namespace"], complete["job"]["name"]) == ("etl", "load")
    assert complete["run"]["runId"] == start["run"]["runId"] == run.run_id
    assert [(each["namespace"], each["name"]) for each in complete["inputs"]] == [("s3://raw", "orders")]
    assert [(each["namespace"], each["name"]) for each in complete["outputs"]] == [
        ("postgres://db:5432", "shop.public.orders"),
        ("kafka://broker:9092", "orders"),
    ]
    assert "signature" in complete["run"]["facets"]
    specification = Specification(shared / "openlineage")
    assert [
        complaint for line in event_file.read_bytes().splitlines() for complaint in specification.complaints(line)
    ] == []


def test_a_block_that_raises_fails_without_the_exceptions_text_and_raises_on(event_file: Path) -> None:
    with pytest.raises(ValueError, match="4929"), headwater.run("load", file=event_file):
        raise ValueError("card 4929-1234")

    assert states(event_file) == ["START", "FAIL"]
    message = events(event_file)[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("ValueError in test_a_block_that_raises_fails")
    assert "4929-1234" not in event_file.read_text()  # a shorter text may occur in a digest


def test_an_interrupted_block_is_aborted(event_file: Path) -> None:
    with pytest.raises(KeyboardInterrupt), headwater.run("load", file=event_file):
        raise KeyboardInterrupt

    assert states(event_file) == ["START", "ABORT"]


def stop_reasons(file: Path) -> list[str | None]:
    """The stop reason of each end, in the order of the file."""
    ends = [event for event in events(file) if event["eventType"] in ("COMPLETE", "FAIL", "ABORT")]
    return [event["run"]["facets"]["headwater_run"].get("stopReason") for event in ends]


def test_a_block_whose_task_is_cancelled_is_aborted(event_file: Path) -> None:
    async def work() -> None:
        with headwater.run("load", file=event_file):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(work(), 0.01))

    assert states(event_file) == ["START", "ABORT"]
    assert stop_reasons(event_file) == ["cancelled"]


@pytest.fixture
def default_ctrl_c() -> Iterator[None]:
    """Install Python's own handler, which a process lacks if a shell started it in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_ctrl_c")
def test_ctrl_c_aborts_a_block_of_asyncio(event_file: Path) -> None:
    async def work() -> None:
        with headwater.run("load", file=event_file):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())

    assert states(event_file) == ["START", "ABORT"]


def test_a_generator_that_is_closed_early_has_its_run_aborted(event_file: Path) -> None:
    def rows() -> Generator[int]:
        with headwater.run("load", file=event_file):
            yield from range(5)

    generator = rows()
    next(generator)
    generator.close()

    assert states(event_file) == ["START", "ABORT"]
    assert stop_reasons(event_file) == ["closed"]


def test_a_blocks_own_stop_reason_is_not_replaced_if_it_is_closed_afterwards(event_file: Path) -> None:
    def rows() -> Generator[int]:
        with headwater.run("load", file=event_file) as run:
            yield 1
            run.abort("a newer load is there")
            yield 2

    generator = rows()
    assert [next(generator), next(generator)] == [1, 2]
    generator.close()

    assert stop_reasons(event_file) == ["a newer load is there"]


def test_a_run_is_started_once(event_file: Path) -> None:
    run = headwater.run("load", file=event_file)
    run.running()
    with run:
        with pytest.raises(RuntimeError, match="already started"), run:
            pass
        run.running()
    with pytest.raises(RuntimeError, match="already started"), run:
        pass

    assert states(event_file) == ["START", "RUNNING", "COMPLETE"]


def test_a_clock_that_is_set_back_gives_no_negative_duration(event_file: Path) -> None:
    times = (datetime(2026, 5, 19, 12, tzinfo=UTC) - timedelta(hours=hours) for hours in count())
    nothing = Flows([], [])

    with ExplicitRun(
        JobId("etl", "load"), nothing, partial(opened_emitter, None, event_file, None), 60, lambda: next(times)
    ):
        pass

    assert [event["run"]["facets"]["headwater_run"]["durationMs"] for event in events(event_file)] == [0, 0]


def test_a_block_can_abort_its_own_run_with_a_reason(event_file: Path) -> None:
    with headwater.run("load", file=event_file) as run:
        run.abort("nothing to load")

    assert events(event_file)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "nothing to load"
    assert states(event_file) == ["START", "ABORT"]


def test_with_an_unreachable_service_a_program_of_many_runs_waits_once(tmp_path: Path) -> None:
    key, unreachable = load_or_create(tmp_path), HttpConfig(endpoint=f"http://127.0.0.1:{free_port()}/api/v1/lineage")

    def run_once(timeout_s: float) -> None:
        config = EmitConfig(http=unreachable, spool=tmp_path / "spool", drain_timeout_s=timeout_s)
        with ExplicitRun(JobId("etl", "load"), Flows([], []), partial(Emitter.of_node, config, key), 60, now):
            pass

    run_once(0.01)
    second = threading.Thread(target=run_once, args=[3600], daemon=True)
    second.start()
    second.join(30)

    assert not second.is_alive()
    assert is_anything_waiting(tmp_path / "spool")


NO_THREADS = """
import logging, resource
logging.basicConfig(stream=sys.stdout, format='%(message)s')
threading.stack_size(1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
"""


def test_a_program_that_cannot_start_threads_goes_on_and_its_events_wait_for_the_next_run(event_file: Path) -> None:
    lines = printed(f"{NO_THREADS}\nwith headwater.run('load', file=FILE): print('loaded')", event_file).splitlines()
    assert lines[-1] == "loaded"
    assert {line.partition("): ")[2] for line in lines[:-1]} == {
        "can't start new thread; the program goes on without it"
    }
    assert not event_file.exists()

    with headwater.run("next", file=event_file):
        pass

    assert [(event["job"]["name"], event["eventType"]) for event in events(event_file)] == [
        ("load", "START"),
        ("load", "COMPLETE"),
        ("next", "START"),
        ("next", "COMPLETE"),
    ]


def test_a_program_that_can_start_threads_again_sends_all_waiting_events(event_file: Path) -> None:
    text = f"""{NO_THREADS}
with headwater.run('load', file=FILE) as run:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    threading.stack_size(0)
    run.running()
"""
    printed(text, event_file)

    assert states(event_file) == ["START", "RUNNING", "COMPLETE"]


def test_a_program_that_cannot_start_threads_is_still_ended_by_sigterm(event_file: Path) -> None:
    status = status_after_sigterm(f"{NO_THREADS}\nwith headwater.run('load', file=FILE): WAIT", event_file)

    assert status == -signal.SIGTERM


@pytest.mark.parametrize(("code", "end"), [(0, "COMPLETE"), (3, "FAIL")])
def test_a_blocks_exit_code_decides_how_its_run_ends(event_file: Path, code: int, end: str) -> None:
    with pytest.raises(SystemExit), headwater.run("load", file=event_file):
        sys.exit(code)

    assert states(event_file) == ["START", end]


def test_running_events_are_sent_automatically(event_file: Path) -> None:
    with headwater.run("load", file=event_file, running_every_s=0.02):
        until = time.monotonic() + 10
        while "RUNNING" not in (event_file.read_text() if event_file.exists() else "") and time.monotonic() < until:
            time.sleep(0.02)

    assert states(event_file)[1] == "RUNNING"
    assert states(event_file)[-1] == "COMPLETE"


def ended(file: Path) -> list[tuple[str, str]]:
    """The ends by time, as the job's name and the state."""
    in_order = sorted(events(file), key=lambda event: event["eventTime"])
    states_by_job = [(event["job"]["name"], event["eventType"]) for event in in_order]
    return [(job, state) for job, state in states_by_job if state not in ("START", "RUNNING")]


def status_after_sigterm(text: str, event_file: Path) -> int:
    """The exit status of a program that gets SIGTERM at its `WAIT`; in its text `FILE` is the file of events."""
    # Many short sleeps: a signal that arrives just before a sleep does not interrupt it.
    text = text.replace("WAIT", "print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]")
    program = f"import headwater, os, signal, sys, threading, time\nFILE = {str(event_file)!r}\n{text}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        return process.wait(30)


def test_a_program_that_gets_sigterm_aborts_its_run_and_ends_by_the_signal(event_file: Path) -> None:
    status = status_after_sigterm("with headwater.run('load', file=FILE): WAIT", event_file)

    assert status == -signal.SIGTERM
    assert states(event_file) == ["START", "ABORT"]
    assert events(event_file)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"


def test_all_open_runs_are_aborted_by_sigterm_the_inner_one_first(event_file: Path) -> None:
    text = "with headwater.run('outer', file=FILE), headwater.run('inner', file=FILE): WAIT"

    status = status_after_sigterm(text, event_file)

    assert status == -signal.SIGTERM
    assert ended(event_file) == [("inner", "ABORT"), ("outer", "ABORT")]


IN_A_THREAD = """
def work():
    with headwater.run('in-thread', file=FILE):
        opened.set()
        time.sleep(60)
opened = threading.Event()
threading.Thread(target=work, daemon=True).start()
opened.wait()
"""


def test_a_run_in_another_thread_is_aborted_by_sigterm_too(event_file: Path) -> None:
    text = f"{IN_A_THREAD}\nwith headwater.run('main', file=FILE): WAIT"

    status = status_after_sigterm(text, event_file)

    assert status == -signal.SIGTERM
    assert sorted(ended(event_file)) == [("in-thread", "ABORT"), ("main", "ABORT")]


def test_a_programs_own_handler_decides_what_sigterm_does_and_all_its_runs_are_aborted(event_file: Path) -> None:
    text = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
with headwater.run('outer', file=FILE), headwater.run('inner', file=FILE): WAIT
"""
    status = status_after_sigterm(text, event_file)

    assert status == 7
    assert ended(event_file) == [("inner", "ABORT"), ("outer", "ABORT")]


def test_a_handler_that_calls_the_previous_handler_is_called_once(event_file: Path) -> None:
    text = """
with headwater.run('outer', file=FILE):
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *which: (print('theirs', file=open(FILE + '.theirs', 'a')), before(*which)))
    with headwater.run('inner', file=FILE): WAIT
"""
    status = status_after_sigterm(text, event_file)

    assert status == -signal.SIGTERM
    assert ended(event_file) == [("inner", "ABORT"), ("outer", "ABORT")]
    assert Path(f"{event_file}.theirs").read_text() == "theirs\n"


def test_a_program_that_ignores_sigterm_goes_on_and_its_child_ignores_it_too(event_file: Path) -> None:
    text = """
import subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with headwater.run('load', file=FILE):
    signal.raise_signal(signal.SIGTERM)
    child = subprocess.run([sys.executable, '-c', 'import signal; print(signal.getsignal(15) == signal.SIG_IGN)'])
"""
    assert printed(text, event_file).split() == ["True"]

    assert states(event_file) == ["START", "COMPLETE"]


LEFT_OPEN = {
    "a generator": """
def rows():
    with headwater.run('load', file=FILE):
        yield 1
left = rows()
next(left)
""",
    "a daemon thread": IN_A_THREAD,
    "a notebook": "headwater.run('load', file=FILE).__enter__()",
}


@pytest.mark.parametrize("where", LEFT_OPEN)
def test_a_run_that_is_open_when_the_program_exits_is_aborted(where: str, event_file: Path) -> None:
    printed(LEFT_OPEN[where], event_file)

    assert states(event_file) == ["START", "ABORT"]
    assert stop_reasons(event_file) == ["exit"]


def test_the_last_run_restores_the_signal_handler(event_file: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    with headwater.run("outer", file=event_file):
        with headwater.run("inner", file=event_file):
            pass
        assert signal.getsignal(signal.SIGTERM) != before

    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        ({"inputs": [1]}, TypeError, "inputs: expected a path, a URL or a pair"),
        ({"outputs": [("a", "b", "c")]}, TypeError, "outputs: .* found tuple of 3"),
        ({"inputs": [("a", 1)]}, TypeError, "inputs: "),
        ({"inputs": 5}, TypeError, "inputs: .* found int"),
        ({"inputs": [""]}, InvalidNameError, "inputs: .* nothing"),
        ({"outputs": [("", "orders")]}, InvalidNameError, "outputs: .* nothing"),
        ({"job": ""}, InvalidNameError, "job: "),
        ({"job": None}, TypeError, "job: "),
        ({"namespace": " "}, InvalidNameError, "namespace: "),
        ({"running_every_s": 0}, ValueError, "running_every_s: "),
        ({"running_every_s": float("nan")}, ValueError, "running_every_s: "),
    ],
)
def test_an_invalid_argument_is_refused_at_once_by_its_name(
    argument: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        headwater.run(**{"job": "load", **argument})


def test_a_string_is_one_dataset(event_file: Path) -> None:
    with headwater.run("load", inputs="s3://raw/orders", outputs="/out", file=event_file):
        pass

    (start, _) = events(event_file)
    assert [(each["namespace"], each["name"]) for each in start["inputs"]] == [("s3://raw", "orders")]
    assert [(each["namespace"], each["name"]) for each in start["outputs"]] == [("file", "/out")]


def test_a_table_is_named_by_the_databases_jdbc_url_as_pipelines_name_it(event_file: Path) -> None:
    table = ("jdbc:postgresql://app:S3cretPw@DB:5432/shop?user=app&password=S3cretPw", "Orders")
    with headwater.run("load", inputs=[table, ("jdbc:sqlite:shop.db", "orders")], file=event_file):
        pass

    inputs = [(each["namespace"], each["name"]) for each in events(event_file)[0]["inputs"]]
    assert inputs == [("postgres://db:5432", "shop.public.orders"), (f"sqlite:{Path.cwd()}/shop.db", "orders")]


ADDRESSES = [
    "jdbc:postgresql://app:S3cretPw@db:5432/shop?user=app&password=S3cretPw",
    "JDBC:postgresql://app:S3cretPw@db:5432/shop",
    " jdbc:postgresql://app:S3cretPw@db:5432/shop",
    "jdbc:postgresql://app:a/S3cretPw@db:5432/shop",
    "jdbc:oracle:thin:scott/S3cretPw@db:1521:orcl",
    "jdbc:oracle:thin:scott/S3cretPw@//db:1521/svc",
    "jdbc:mysql:u:S3cretPw@h",
    "jdbc:mysql://u:S3cretPw@h/shop",
    "jdbc:mysql://(host=h,port=3306,user=u,password=S3cretPw)/shop",
    "jdbc:sqlserver://h:1433;databaseName=shop;user=u;password=S3cretPw",
    "jdbc:sqlserver://h:1433;password={a;S3cretPw};databaseName=shop",
    "jdbc:db2://h:50000/SAMPLE:user=u;password=S3cretPw;",
    "jdbc:h2:file:/data/shop;USER=sa;PASSWORD=S3cretPw",
    "jdbc:hive2://h:10000/db;user=u;password=S3cretPw",
    "jdbc:snowflake://a.snowflakecomputing.com/?user=u&password=S3cretPw",
    "jdbc:teradata://h/USER=u,PASSWORD=S3cretPw",
    "oracle:thin:scott/S3cretPw@db:1521/svc",
    "oracle:thin:scott/a/S3cretPw@db:1521/svc",
    "mysql:u:S3cretPw@h/shop",
    "sqlserver:h;user=u;password=S3cretPw",
    "sqlserver://h;user=u;password=S3cretPw",
    "hive2://h:10000/db;user=u;password=S3cretPw",
    "postgres://app:S3cretPw@db:5432/shop",
    "postgres:app:S3cretPw@db:5432/shop",
    "postgres:/app:S3cretPw@db:5432/shop",
    "postgresql+psycopg2://app:S3cretPw@db/shop?password=S3cretPw",
    "mongodb+srv://u:S3cretPw@h/db?authSource=admin",
    "amqp://u:S3cretPw@h:5672/vhost",
    "redis://:S3cretPw@h:6379/0",
    "https://u:S3cretPw@h/x?token=S3cretPw#S3cretPw",
    "https://S3cretPw@h/x",
    "https://h/x;password=S3cretPw",
    "sftp://u:S3cretPw@h/in",
    "s3://KEY:S3cretPw@lake/orders?X-Amz-Signature=S3cretPw",
    "gs://KEY:S3cretPw@lake/orders",
    "abfss://u:S3cretPw@container@account.dfs.core.windows.net/x",
    "file://u:S3cretPw@nas/x",
    "kafka://u:S3cretPw@broker:9092/orders",
    "kafka://broker:9092/orders?sasl.password=S3cretPw",
    "app:S3cretPw@db:5432/shop",
    "app:S3/S3cretPw@db:5432/shop",
    "//app:S3cretPw@db:5432/shop",
    "scott/S3cretPw@//db:1521/svc",
]


@pytest.mark.parametrize(
    ("place", "address"),
    [
        *((place, each) for place in ("lone", "pair") for each in ADDRESSES),
        *((place, each) for place in ("name", "namespace") for each in ADDRESSES if "://" in each or "jdbc" in each),
    ],
)
def test_a_password_in_an_address_is_nowhere_in_an_event(place: str, address: str, event_file: Path) -> None:
    dataset = {"lone": address, "pair": (address, "orders"), "name": ("postgres://db:5432", address)}.get(place, "/in")
    namespace = address if place == "namespace" else "etl"

    message = ""
    try:
        with headwater.run("load", namespace=namespace, inputs=[dataset], file=event_file) as run:  # type: ignore[list-item]
            run.running()
    except InvalidNameError as refusal:
        message = str(refusal)

    assert "S3cretPw" not in message + (event_file.read_text() if event_file.exists() else "")


def printed(text: str, event_file: Path) -> str:
    """The output of a program that exits by itself, with status 0; if it hangs, it is killed.

    Since Python 3.12 a fork in a program with threads gives a DeprecationWarning: our own thread counts.
    """
    program = f"import headwater, os, signal, sys, threading, time\nFILE = {str(event_file)!r}\n{text}"
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_a_pool_of_processes_works_inside_a_run_as_outside(event_file: Path) -> None:
    text = """
import multiprocessing
with headwater.run('whole', file=FILE, running_every_s=0.001):
    for _ in range(20):
        with multiprocessing.get_context('fork').Pool(2) as pool: print(sum(pool.map(abs, range(4))))
"""
    assert printed(text, event_file).split() == ["6"] * 20

    assert ended(event_file) == [("whole", "COMPLETE")]


def test_a_forked_child_reports_nothing_of_its_parents_run_and_exits(event_file: Path) -> None:
    text = """
with headwater.run('whole', file=FILE, running_every_s=0.001) as run:
    for _ in range(20):
        if not (child := os.fork()):
            run.writes('/of-a-child'), run.running(), run.abort('by a child')
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""
    printed(text, event_file)

    assert ended(event_file) == [("whole", "COMPLETE")]
    assert "child" not in event_file.read_text()


def test_a_forked_child_has_sigterm_as_it_was_before_the_run(event_file: Path) -> None:
    text = """
signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
with headwater.run('whole', file=FILE):
    print(signal.getsignal(signal.SIGTERM).__class__.__name__, flush=True)
    if not (child := os.fork()):
        print(signal.getsignal(signal.SIGTERM).__class__.__name__, signal.pthread_sigmask(0, []), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(6)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), signal.pthread_sigmask(0, []))
"""
    assert printed(text, event_file).splitlines() == ["_Handler", "function set()", "5 set()"]

    assert ended(event_file) == [("whole", "COMPLETE")]


def test_a_forked_child_can_have_its_own_runs(event_file: Path, tmp_path: Path) -> None:
    text = """
import multiprocessing
def part(n):
    with headwater.run(f'part-{n}', outputs=f'/out/{n}', file=FILE): pass
    return n
with headwater.run('whole', file=FILE):
    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(part, range(4)))
"""
    printed(text, event_file)

    assert sorted(ended(event_file)) == [*((f"part-{n}", "COMPLETE") for n in range(4)), ("whole", "COMPLETE")]
    places = [
        (event["run"]["facets"]["headwater_chain"]["epoch"], event["run"]["facets"]["headwater_chain"]["sequence"])
        for event in events(event_file)
    ]
    assert len(set(places)) == len(places) == 10


def test_a_childs_own_run_is_aborted_by_sigterm_and_the_parents_goes_on(event_file: Path) -> None:
    text = """
with headwater.run('whole', file=FILE):
    read, write = os.pipe()
    if not (child := os.fork()):
        with headwater.run('part', file=FILE):
            os.write(write, b'.')
            while True: time.sleep(0.1)
    os.read(read, 1)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert printed(text, event_file) == f"{-signal.SIGTERM}\n"

    assert sorted(ended(event_file)) == [("part", "ABORT"), ("whole", "COMPLETE")]
