"""`headwater.run`: one START, and one end, whatever happens in the block."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
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
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that events go to."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    return tmp_path / "events.jsonl"


def events(file: Path) -> list[Event]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def now() -> datetime:
    return datetime.now(UTC)


def states(file: Path) -> list[str]:
    return [event["eventType"] for event in events(file)]


def test_a_block_that_ends_is_complete_with_its_inputs_and_outputs(told: Path, shared: Path) -> None:
    with headwater.run("load", namespace="etl", inputs=["s3a://raw/orders/"], file=told) as run:
        run.writes(("postgres://db:5432", "shop.public.orders"), "kafka://broker:9092/orders")
        run.running()

    start, running, complete = events(told)
    assert [start["eventType"], running["eventType"], complete["eventType"]] == ["START", "RUNNING", "COMPLETE"]
    assert (complete["job"]["namespace"], complete["job"]["name"]) == ("etl", "load")
    assert complete["run"]["runId"] == start["run"]["runId"] == run.run_id
    assert [(one["namespace"], one["name"]) for one in complete["inputs"]] == [("s3://raw", "orders")]
    assert [(one["namespace"], one["name"]) for one in complete["outputs"]] == [
        ("postgres://db:5432", "shop.public.orders"),
        ("kafka://broker:9092", "orders"),
    ]
    assert "signature" in complete["run"]["facets"]
    specification = Specification(shared / "openlineage")
    assert [complaint for line in told.read_bytes().splitlines() for complaint in specification.complaints(line)] == []


def test_a_block_that_raises_fails_without_the_exceptions_text_and_raises_on(told: Path) -> None:
    with pytest.raises(ValueError, match="4929"), headwater.run("load", file=told):
        raise ValueError("card 4929-1234")

    assert states(told) == ["START", "FAIL"]
    message = events(told)[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("ValueError in test_a_block_that_raises_fails")
    assert "4929-1234" not in told.read_text()  # shorter, it may stand in a digest


def test_an_interrupted_block_is_aborted(told: Path) -> None:
    with pytest.raises(KeyboardInterrupt), headwater.run("load", file=told):
        raise KeyboardInterrupt

    assert states(told) == ["START", "ABORT"]


def stop_reasons(file: Path) -> list[str | None]:
    """Those of the ends that were told."""
    told = [event for event in events(file) if event["eventType"] in ("COMPLETE", "FAIL", "ABORT")]
    return [event["run"]["facets"]["headwater_run"].get("stopReason") for event in told]


def test_a_block_whose_task_is_cancelled_is_aborted(told: Path) -> None:
    async def work() -> None:
        with headwater.run("load", file=told):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(work(), 0.01))

    assert states(told) == ["START", "ABORT"]
    assert stop_reasons(told) == ["cancelled"]


@pytest.fixture
def takes_ctrl_c() -> Iterator[None]:
    """Python's own handler, which a process does not have that was started in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("takes_ctrl_c")
def test_ctrl_c_aborts_a_block_of_asyncio(told: Path) -> None:
    async def work() -> None:
        with headwater.run("load", file=told):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())

    assert states(told) == ["START", "ABORT"]


def test_a_generator_that_is_read_no_further_has_its_run_aborted(told: Path) -> None:
    def rows() -> Iterator[int]:
        with headwater.run("load", file=told):
            yield from range(5)

    several = rows()
    next(several)
    several.close()

    assert states(told) == ["START", "ABORT"]
    assert stop_reasons(told) == ["closed"]


def test_what_a_block_says_of_its_stop_stays_where_it_is_then_stopped_from_outside(told: Path) -> None:
    def rows() -> Iterator[int]:
        with headwater.run("load", file=told) as run:
            yield 1
            run.abort("a newer load is there")
            yield 2

    several = rows()
    assert [next(several), next(several)] == [1, 2]
    several.close()

    assert stop_reasons(told) == ["a newer load is there"]


def test_a_run_is_started_once(told: Path) -> None:
    run = headwater.run("load", file=told)
    run.running()
    with run:
        with pytest.raises(RuntimeError, match="already started"), run:
            pass
        run.running()
    with pytest.raises(RuntimeError, match="already started"), run:
        pass

    assert states(told) == ["START", "RUNNING", "COMPLETE"]


def test_a_clock_that_is_set_back_makes_no_duration_below_zero(told: Path) -> None:
    times = (datetime(2026, 5, 19, 12, tzinfo=UTC) - timedelta(hours=hours) for hours in count())
    nothing = Flows([], [])

    with ExplicitRun(JobId("etl", "load"), nothing, partial(opened_emitter, None, told, None), 60, lambda: next(times)):
        pass

    assert [event["run"]["facets"]["headwater_run"]["durationMs"] for event in events(told)] == [0, 0]


def test_a_block_may_say_itself_that_it_was_stopped(told: Path) -> None:
    with headwater.run("load", file=told) as run:
        run.abort("nothing to load")

    assert events(told)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "nothing to load"
    assert states(told) == ["START", "ABORT"]


def test_where_nobody_answers_a_program_of_many_runs_waits_once(tmp_path: Path) -> None:
    key, nobody = load_or_create(tmp_path), HttpConfig(endpoint=f"http://127.0.0.1:{free_port()}/api/v1/lineage")

    def tell(most_s: float) -> None:
        config = EmitConfig(http=nobody, spool=tmp_path / "spool", drain_timeout_s=most_s)
        with ExplicitRun(JobId("etl", "load"), Flows([], []), partial(Emitter.of_node, config, key), 60, now):
            pass

    tell(0.01)
    second = threading.Thread(target=tell, args=[3600], daemon=True)
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


def test_a_program_that_may_start_no_thread_runs_on_and_its_events_wait_for_the_next(told: Path) -> None:
    said = printed(f"{NO_THREADS}\nwith headwater.run('load', file=FILE): print('loaded')", told).splitlines()
    assert said[-1] == "loaded"
    assert {line.partition("): ")[2] for line in said[:-1]} == {
        "can't start new thread; the program goes on without it"
    }
    assert not told.exists()

    with headwater.run("next", file=told):
        pass

    assert [(event["job"]["name"], event["eventType"]) for event in events(told)] == [
        ("load", "START"),
        ("load", "COMPLETE"),
        ("next", "START"),
        ("next", "COMPLETE"),
    ]


def test_a_program_that_may_start_threads_again_tells_all_that_waited(told: Path) -> None:
    text = f"""{NO_THREADS}
with headwater.run('load', file=FILE) as run:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    threading.stack_size(0)
    run.running()
"""
    printed(text, told)

    assert states(told) == ["START", "RUNNING", "COMPLETE"]


def test_a_program_that_may_start_no_thread_dies_of_sigterm_all_the_same(told: Path) -> None:
    status = status_after_sigterm(f"{NO_THREADS}\nwith headwater.run('load', file=FILE): WAIT", told)

    assert status == -signal.SIGTERM


@pytest.mark.parametrize(("code", "end"), [(0, "COMPLETE"), (3, "FAIL")])
def test_how_a_block_exits_is_how_its_run_ends(told: Path, code: int, end: str) -> None:
    with pytest.raises(SystemExit), headwater.run("load", file=told):
        sys.exit(code)

    assert states(told) == ["START", end]


def test_running_is_told_by_itself(told: Path) -> None:
    with headwater.run("load", file=told, running_every_s=0.02):
        until = time.monotonic() + 10
        while "RUNNING" not in (told.read_text() if told.exists() else "") and time.monotonic() < until:
            time.sleep(0.02)

    assert states(told)[1] == "RUNNING"
    assert states(told)[-1] == "COMPLETE"


def ended(file: Path) -> list[tuple[str, str]]:
    """The ends that were told, in the order of their times, each with the job's name."""
    in_order = sorted(events(file), key=lambda event: event["eventTime"])
    told = [(event["job"]["name"], event["eventType"]) for event in in_order]
    return [(job, state) for job, state in told if state not in ("START", "RUNNING")]


def status_after_sigterm(text: str, told: Path) -> int:
    """What a program ends with that gets SIGTERM at its `WAIT`; it calls its events' file `FILE`."""
    # Many sleeps: a signal that comes just before one does not end it.
    text = text.replace("WAIT", "print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]")
    program = f"import headwater, os, signal, sys, threading, time\nFILE = {str(told)!r}\n{text}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        return process.wait(30)


def test_a_program_that_gets_sigterm_aborts_its_run_and_dies_of_it(told: Path) -> None:
    status = status_after_sigterm("with headwater.run('load', file=FILE): WAIT", told)

    assert status == -signal.SIGTERM
    assert states(told) == ["START", "ABORT"]
    assert events(told)[-1]["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"


def test_all_open_runs_are_aborted_by_sigterm_the_inner_one_first(told: Path) -> None:
    text = "with headwater.run('outer', file=FILE), headwater.run('inner', file=FILE): WAIT"

    status = status_after_sigterm(text, told)

    assert status == -signal.SIGTERM
    assert ended(told) == [("inner", "ABORT"), ("outer", "ABORT")]


IN_A_THREAD = """
def work():
    with headwater.run('in-thread', file=FILE):
        opened.set()
        time.sleep(60)
opened = threading.Event()
threading.Thread(target=work, daemon=True).start()
opened.wait()
"""


def test_a_run_in_another_thread_is_aborted_by_sigterm_too(told: Path) -> None:
    text = f"{IN_A_THREAD}\nwith headwater.run('main', file=FILE): WAIT"

    status = status_after_sigterm(text, told)

    assert status == -signal.SIGTERM
    assert sorted(ended(told)) == [("in-thread", "ABORT"), ("main", "ABORT")]


def test_a_programs_own_handler_decides_what_sigterm_does_and_all_its_runs_are_aborted(told: Path) -> None:
    text = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
with headwater.run('outer', file=FILE), headwater.run('inner', file=FILE): WAIT
"""
    status = status_after_sigterm(text, told)

    assert status == 7
    assert ended(told) == [("inner", "ABORT"), ("outer", "ABORT")]


def test_a_handler_that_calls_the_one_before_it_is_called_once(told: Path) -> None:
    text = """
with headwater.run('outer', file=FILE):
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *which: (print('theirs', file=open(FILE + '.theirs', 'a')), before(*which)))
    with headwater.run('inner', file=FILE): WAIT
"""
    status = status_after_sigterm(text, told)

    assert status == -signal.SIGTERM
    assert ended(told) == [("inner", "ABORT"), ("outer", "ABORT")]
    assert Path(f"{told}.theirs").read_text() == "theirs\n"


def test_a_program_that_ignores_sigterm_goes_on_and_so_does_what_it_starts(told: Path) -> None:
    text = """
import subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with headwater.run('load', file=FILE):
    signal.raise_signal(signal.SIGTERM)
    told = subprocess.run([sys.executable, '-c', 'import signal; print(signal.getsignal(15) == signal.SIG_IGN)'])
"""
    assert printed(text, told).split() == ["True"]

    assert states(told) == ["START", "COMPLETE"]


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
def test_a_run_that_is_open_when_the_program_exits_is_aborted(where: str, told: Path) -> None:
    printed(LEFT_OPEN[where], told)

    assert states(told) == ["START", "ABORT"]
    assert stop_reasons(told) == ["exit"]


def test_the_last_run_gives_the_signal_back(told: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)

    with headwater.run("outer", file=told):
        with headwater.run("inner", file=told):
            pass
        assert signal.getsignal(signal.SIGTERM) != before

    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
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
def test_what_cannot_be_told_is_refused_at_once_by_its_name(
    wrong: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        headwater.run(**{"job": "load", **wrong})


def test_a_text_is_one_dataset(told: Path) -> None:
    with headwater.run("load", inputs="s3://raw/orders", outputs="/out", file=told):
        pass

    (start, _) = events(told)
    assert [(one["namespace"], one["name"]) for one in start["inputs"]] == [("s3://raw", "orders")]
    assert [(one["namespace"], one["name"]) for one in start["outputs"]] == [("file", "/out")]


def test_a_table_is_named_by_the_databases_jdbc_url_as_pipelines_name_it(told: Path) -> None:
    table = ("jdbc:postgresql://app:S3cretPw@DB:5432/shop?user=app&password=S3cretPw", "Orders")
    with headwater.run("load", inputs=[table, ("jdbc:sqlite:shop.db", "orders")], file=told):
        pass

    inputs = [(one["namespace"], one["name"]) for one in events(told)[0]["inputs"]]
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
    ("of", "address"),
    [
        *((of, each) for of in ("lone", "pair") for each in ADDRESSES),
        *((of, each) for of in ("name", "namespace") for each in ADDRESSES if "://" in each or "jdbc" in each),
    ],
)
def test_a_password_in_an_address_is_nowhere_in_an_event(of: str, address: str, told: Path) -> None:
    dataset = {"lone": address, "pair": (address, "orders"), "name": ("postgres://db:5432", address)}.get(of, "/in")
    namespace = address if of == "namespace" else "etl"

    said = ""
    try:
        with headwater.run("load", namespace=namespace, inputs=[dataset], file=told) as run:  # type: ignore[list-item]
            run.running()
    except InvalidNameError as refusal:
        said = str(refusal)

    assert "S3cretPw" not in said + (told.read_text() if told.exists() else "")


def printed(text: str, told: Path) -> str:
    """The output of a program that ends by itself, and well; one that hangs is killed.

    Since Python 3.12 a fork in a program with threads gives a DeprecationWarning: our own thread counts.
    """
    program = f"import headwater, os, signal, sys, threading, time\nFILE = {str(told)!r}\n{text}"
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_pool_of_processes_inside_a_run_comes_and_goes_as_without_it(told: Path) -> None:
    text = """
import multiprocessing
with headwater.run('whole', file=FILE, running_every_s=0.001):
    for _ in range(20):
        with multiprocessing.get_context('fork').Pool(2) as pool: print(sum(pool.map(abs, range(4))))
"""
    assert printed(text, told).split() == ["6"] * 20

    assert ended(told) == [("whole", "COMPLETE")]


def test_a_forked_child_tells_nothing_of_its_parents_run_and_ends(told: Path) -> None:
    text = """
with headwater.run('whole', file=FILE, running_every_s=0.001) as run:
    for _ in range(20):
        if not (child := os.fork()):
            run.writes('/of-a-child'), run.running(), run.abort('by a child')
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""
    printed(text, told)

    assert ended(told) == [("whole", "COMPLETE")]
    assert "child" not in told.read_text()


def test_a_forked_child_has_sigterm_as_it_was_before_the_run(told: Path) -> None:
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
    assert printed(text, told).splitlines() == ["_Handler", "function set()", "5 set()"]

    assert ended(told) == [("whole", "COMPLETE")]


def test_a_forked_child_may_have_runs_of_its_own(told: Path, tmp_path: Path) -> None:
    text = """
import multiprocessing
def part(n):
    with headwater.run(f'part-{n}', outputs=f'/out/{n}', file=FILE): pass
    return n
with headwater.run('whole', file=FILE):
    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(part, range(4)))
"""
    printed(text, told)

    assert sorted(ended(told)) == [*((f"part-{n}", "COMPLETE") for n in range(4)), ("whole", "COMPLETE")]
    places = [
        (event["run"]["facets"]["headwater_chain"]["epoch"], event["run"]["facets"]["headwater_chain"]["sequence"])
        for event in events(told)
    ]
    assert len(set(places)) == len(places) == 10


def test_a_childs_own_run_is_aborted_by_sigterm_and_the_parents_goes_on(told: Path) -> None:
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
    assert printed(text, told) == f"{-signal.SIGTERM}\n"

    assert sorted(ended(told)) == [("part", "ABORT"), ("whole", "COMPLETE")]
