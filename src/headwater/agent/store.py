"""The agent's database in SQLite: jobs, their versions, their executions, and every transition of these.

Each call is one transaction, synced to disk before it returns, so that everything acted on survives a crash.
Executions are ordered as they were recorded, not by time: an edge machine's clock may be set back.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from headwater.agent.messages import Pipeline
from headwater.agent.planning import Wanted
from headwater.agent.states import ENDED, Execution, Health, Stop
from headwater.errors import NotFoundError, SetupError, UnavailableError

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
    wanted TEXT NOT NULL, UNIQUE (namespace, name)
) STRICT;
CREATE TABLE IF NOT EXISTS version (
    job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, version INTEGER NOT NULL, source TEXT NOT NULL,
    path TEXT NOT NULL, settings TEXT NOT NULL, deployed_us INTEGER NOT NULL, deployed_by TEXT,
    PRIMARY KEY (job_id, version)
) STRICT;
CREATE TABLE IF NOT EXISTS execution (
    run_id TEXT PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, version INTEGER NOT NULL,
    state TEXT NOT NULL, created_us INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS execution_of_job ON execution (job_id, created_us);
CREATE INDEX IF NOT EXISTS execution_in_state ON execution (state);
CREATE TABLE IF NOT EXISTS transition (
    run_id TEXT NOT NULL REFERENCES execution ON DELETE CASCADE, at_us INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS transition_of_execution ON transition (run_id);
CREATE INDEX IF NOT EXISTS execution_that_owes ON execution (state) WHERE json_extract(body, '$.health.waiting') > 0;
CREATE TABLE IF NOT EXISTS left_by (  -- pipelines of executions that are forgotten, though events of theirs wait
    source TEXT NOT NULL, path TEXT NOT NULL, settings TEXT NOT NULL, PRIMARY KEY (source, path, settings)
) STRICT;
"""
_SCHEMA_VERSION: Final = 2
_CHANGES: Final = 200
"""The most changes between `degraded` and `running` kept of an execution: a stream runs for months."""
_OLD_CHANGES: Final = """
DELETE FROM transition WHERE run_id = ?1 AND state IN ('running', 'degraded') AND rowid <= (
    SELECT rowid FROM transition WHERE run_id = ?1 AND state = 'degraded' ORDER BY rowid DESC LIMIT 1 OFFSET ?2)
"""
# The same expression as in the index, so that SQLite uses the index.
_OWES: Final = "json_extract(body, '$.health.waiting') > 0"
_REMEMBER: Final = """
INSERT OR IGNORE INTO left_by SELECT source, path, settings FROM version WHERE (job_id, version) IN (
    SELECT job_id, version FROM execution WHERE
"""
_OVER: Final = ", ".join(f"'{state}'" for state in sorted(ENDED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A deployed pipeline; `version` is the current one, counted from 1."""

    id: int
    namespace: str
    name: str
    version: int
    wanted: Wanted = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A pipeline's text as it was deployed at one time."""

    job_id: int
    version: int
    pipeline: Pipeline
    deployed_at: datetime
    deployed_by: str | None


class Transition(NamedTuple):
    """When an execution entered a state."""

    at: datetime
    state: str


class AgentStore:
    """The agent's persistent state; for one thread. Every method raises UnavailableError if the disk fails."""

    def __init__(self, path: Path) -> None:
        """Open the database, or create it.

        Raises:
            SetupError: it cannot be opened, or was written by a newer version of Headwater.
        """
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
            (made_by,) = self._db.execute("PRAGMA user_version").fetchone()
            if made_by > _SCHEMA_VERSION:
                raise SetupError(f"{path} was written by a newer Headwater: use that version, or move the file away")
            if made_by < _SCHEMA_VERSION:
                self._db.executescript(f"{_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION};")
        except sqlite3.Error as fault:
            raise SetupError(f"cannot open the agent's database {path}: {fault}") from fault
        self._db.row_factory = sqlite3.Row

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def deploy(self, namespace: str, name: str, pipeline: Pipeline, at: datetime, by: str | None) -> Job:
        """Make this the job's current version, and the job active.

        For an active job, the same text with the same settings makes no new version.
        """
        with self._transaction():
            known = self._found("namespace = ? AND name = ?", namespace, name)
            if known is None:
                insert = "INSERT INTO job (namespace, name, version, wanted) VALUES (?, ?, 0, 'active') RETURNING id"
                (job_id,) = self._db.execute(insert, (namespace, name)).fetchone()
                known = Job(id=job_id, namespace=namespace, name=name, version=0)
            is_new = known.version == 0 or known.wanted != "active" or self._current(known).pipeline != pipeline
            job = replace(known, version=known.version + is_new, wanted="active")
            if is_new:
                self._insert_version(job, pipeline, at, by)
            self._db.execute("UPDATE job SET version = ?, wanted = 'active' WHERE id = ?", (job.version, job.id))
        return job

    def want(self, job: Job, wanted: Wanted) -> Job:
        """Set the state that people want the job in."""
        with self._transaction():
            self._db.execute("UPDATE job SET wanted = ? WHERE id = ?", (wanted, job.id))
        return replace(job, wanted=wanted)

    def jobs(self) -> list[Job]:
        """All jobs, by name."""
        return [_job(row) for row in self._read("SELECT * FROM job ORDER BY namespace, name")]

    def job(self, job_id: int) -> Job:
        """The job.

        Raises:
            NotFoundError: no job has this id.
        """
        found = self._found("id = ?", job_id)
        if found is None:
            raise NotFoundError(f"no job with the id {job_id} is deployed on this agent")
        return found

    def versions(self, job: Job) -> list[Version]:
        """All versions of a job, the newest first."""
        rows = self._read("SELECT * FROM version WHERE job_id = ? ORDER BY version DESC", (job.id,))
        return [_version(row) for row in rows]

    def version(self, job_id: int, version: int) -> Version:
        """One version of a job; it must exist."""
        wanted = "SELECT * FROM version WHERE job_id = ? AND version = ?"
        (row,) = self._read(wanted, (job_id, version))
        return _version(row)

    def record(self, at: datetime, *executions: Execution) -> None:
        """Save executions; a changed state is also recorded as a transition."""
        with self._transaction():
            for one in executions:
                before = self._db.execute("SELECT state FROM execution WHERE run_id = ?", (one.run_id,)).fetchone()
                self._db.execute(
                    "INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, body = excluded.body",
                    (one.run_id, one.job_id, one.version, one.state, _us(one.created_at), _body(one)),
                )
                if before is None or before["state"] != one.state:
                    self._db.execute("INSERT INTO transition VALUES (?, ?, ?)", (one.run_id, _us(at), one.state))
                    if one.state == "degraded":
                        self._db.execute(_OLD_CHANGES, (one.run_id, _CHANGES))

    def execution(self, run_id: str) -> Execution:
        """The execution.

        Raises:
            NotFoundError: no execution has this run id.
        """
        rows = self._read("SELECT * FROM execution WHERE run_id = ?", (run_id,))
        if not rows:
            raise NotFoundError(f"this agent has no execution {run_id}; `headwater execution list` shows those it has")
        return _execution(rows[0])

    def unfinished(self) -> list[Execution]:
        """All executions that have not ended, oldest first."""
        rows = self._read(f"SELECT * FROM execution WHERE state NOT IN ({_OVER}) ORDER BY rowid")  # noqa: S608
        return [_execution(row) for row in rows]

    def executions(self, job_id: int | None = None, version: int | None = None, limit: int = 100) -> list[Execution]:
        """Executions, of a job or of one of its versions, the newest first."""
        rows = self._read(
            "SELECT * FROM execution WHERE (?1 IS NULL OR job_id = ?1) AND (?2 IS NULL OR version = ?2) "
            "ORDER BY rowid DESC LIMIT ?3",
            (job_id, version, limit),
        )
        return [_execution(row) for row in rows]

    def with_waiting_events(self) -> list[Execution]:
        """All ended executions with undelivered events, oldest first."""
        rows = self._read(f"SELECT * FROM execution WHERE state IN ({_OVER}) AND {_OWES} ORDER BY rowid")  # noqa: S608
        return [_execution(row) for row in rows]

    def forgotten_with_waiting(self) -> list[Pipeline]:
        """Pipelines of executions that were forgotten with undelivered events."""
        return [_pipeline(row) for row in self._read("SELECT * FROM left_by")]

    def drop_forgotten(self, pipeline: Pipeline) -> None:
        """Record that no event of these waits any more."""
        values = (pipeline.source, pipeline.path, json.dumps(dict(pipeline.settings)))
        with self._transaction():
            self._db.execute("DELETE FROM left_by WHERE source = ? AND path = ? AND settings = ?", values)

    def transitions(self, run_id: str) -> list[Transition]:
        """An execution's transitions, oldest first."""
        rows = self._read("SELECT at_us, state FROM transition WHERE run_id = ? ORDER BY rowid", (run_id,))
        return [Transition(_time(row["at_us"]), row["state"]) for row in rows]

    def forget(self, job: Job) -> list[str]:
        """Delete a job with its versions and executions; returns the run ids of these."""
        with self._transaction():
            self._db.execute(f"{_REMEMBER} job_id = ? AND {_OWES})", (job.id,))
            rows = self._db.execute("SELECT run_id FROM execution WHERE job_id = ?", (job.id,)).fetchall()
            self._db.execute("DELETE FROM job WHERE id = ?", (job.id,))
        return [row["run_id"] for row in rows]

    def prune(self, job_id: int, keep: int) -> list[str]:
        """Delete a job's ended executions except the newest `keep`; returns the run ids of those deleted."""
        with self._transaction():
            old = (
                f"state IN ({_OVER}) AND run_id IN (SELECT run_id FROM execution "  # noqa: S608
                "WHERE job_id = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)"
            )
            self._db.execute(f"{_REMEMBER} {old} AND {_OWES})", (job_id, keep))
            rows = self._db.execute(f"DELETE FROM execution WHERE {old} RETURNING run_id", (job_id, keep)).fetchall()  # noqa: S608
        return [row["run_id"] for row in rows]

    def _current(self, job: Job) -> Version:
        return self.version(job.id, job.version)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as fault:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(fault, sqlite3.Error):
                raise UnavailableError(f"the agent's database cannot be written: {fault}") from fault
            raise

    def _read(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as fault:
            raise UnavailableError(f"the agent's database cannot be read: {fault}") from fault

    def _found(self, where: str, *values: object) -> Job | None:
        rows = self._read(f"SELECT * FROM job WHERE {where}", values)  # noqa: S608  our own text
        return _job(rows[0]) if rows else None

    def _insert_version(self, job: Job, pipeline: Pipeline, at: datetime, by: str | None) -> None:
        values: Sequence[object] = (
            job.id,
            job.version,
            pipeline.source,
            pipeline.path,
            json.dumps(dict(pipeline.settings)),
            _us(at),
            by,
        )
        self._db.execute("INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _job(row: sqlite3.Row) -> Job:
    return Job(**dict(row))


def _pipeline(row: sqlite3.Row) -> Pipeline:
    return Pipeline(source=row["source"], path=row["path"], settings=json.loads(row["settings"]))


def _version(row: sqlite3.Row) -> Version:
    return Version(
        job_id=row["job_id"],
        version=row["version"],
        pipeline=_pipeline(row),
        deployed_at=_time(row["deployed_us"]),
        deployed_by=row["deployed_by"],
    )


_TIMES: Final = ("started_at", "last_seen", "ended_at")
_IN_COLUMNS: Final = ("run_id", "job_id", "version", "state", "created_at")


def _body(one: Execution) -> str:
    """The fields that no query filters by, as JSON."""
    body = {key: value for key, value in asdict(one).items() if key not in _IN_COLUMNS}
    return json.dumps({**body, **{key: _us(body[key]) if body[key] else None for key in _TIMES}})


def _execution(row: sqlite3.Row) -> Execution:
    body: dict[str, Any] = json.loads(row["body"])
    stop, health = body.pop("stop"), body.pop("health")
    times: dict[str, Any] = {key: None if (us := body.pop(key)) is None else _time(us) for key in _TIMES}
    return Execution(
        **{key: row[key] for key in ("run_id", "job_id", "version", "state")},
        **body,
        **times,
        created_at=_time(row["created_us"]),
        stop=None if stop is None else Stop(**stop),
        health=Health(**health),
    )


def _us(time: datetime) -> int:
    return round(time.timestamp() * 1_000_000)


def _time(us: int) -> datetime:
    return datetime.fromtimestamp(us / 1_000_000, UTC)
