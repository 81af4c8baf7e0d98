"""How two rows with one key merge: the facts' `merge` in SQL that SQLite and PostgreSQL both understand.

A property test compares the two.
"""

from typing import Final

from headwater.store.bulk import Insert


def last_writer(table: str, columns: int, *key: str) -> Insert:
    """The row with the greater stamp wins."""
    return Insert(
        table,
        columns,
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET content = excluded.content, stamp_us = excluded.stamp_us, "
        "stamp_digest = excluded.stamp_digest WHERE (excluded.stamp_us, excluded.stamp_digest, excluded.content) "
        f"> ({table}.stamp_us, {table}.stamp_digest, {table}.content)",
    )


def widening(table: str, columns: int, *key: str) -> Insert:
    """The two become one row with the union of their times."""
    return Insert(
        table,
        columns,
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {_wider(table)} "
        f"WHERE excluded.first_us < {table}.first_us OR excluded.last_us > {table}.last_us",
    )


def _wider(table: str) -> str:
    first = _new_if(f"excluded.first_us < {table}.first_us", table, "first_us")
    return f"{first}, {_new_if(f'excluded.last_us > {table}.last_us', table, 'last_us')}"


def _new_if(condition: str, table: str, *columns: str) -> str:
    """Columns take the new value if the condition holds; the two databases share no function for that."""
    return ", ".join(f"{each} = CASE WHEN {condition} THEN excluded.{each} ELSE {table}.{each} END" for each in columns)


_LATER_STATE: Final = (
    "(excluded.rank, excluded.stamp_us, excluded.stamp_digest) "
    "> (run_times.rank, run_times.stamp_us, run_times.stamp_digest)"
)
_EARLIER_START: Final = "run_times.started_us IS NULL OR excluded.started_us < run_times.started_us"
RUN_TIMES: Final = (
    f"ON CONFLICT (run) DO UPDATE SET {_wider('run_times')}, "
    f"{_new_if(_LATER_STATE, 'run_times', 'rank', 'stamp_us', 'stamp_digest', 'state')}, "
    f"{_new_if(_EARLIER_START, 'run_times', 'started_us')}"
)
RUN_OF_JOB: Final = (
    "ON CONFLICT (run) DO UPDATE SET job = excluded.job, parent_run = excluded.parent_run, "
    "parent_job = excluded.parent_job, root_run = excluded.root_run, root_job = excluded.root_job, "
    "stamp_us = excluded.stamp_us, stamp_digest = excluded.stamp_digest WHERE "
    "(excluded.parent_run IS NOT NULL, excluded.root_run IS NOT NULL, excluded.stamp_us, excluded.stamp_digest) > "
    "(run_of_job.parent_run IS NOT NULL, run_of_job.root_run IS NOT NULL, run_of_job.stamp_us, run_of_job.stamp_digest)"
)
_EARLIER: Final = "(excluded.first_us, excluded.first_digest) < (telling.first_us, telling.first_digest)"
_LATER: Final = "(excluded.last_us, excluded.last_digest) > (telling.last_us, telling.last_digest)"
TELLING: Final = (
    "ON CONFLICT (dataset, facet, content, run, direction) DO UPDATE SET "
    f"{_new_if(_EARLIER, 'telling', 'first_us', 'first_digest')}, "
    f"{_new_if(_LATER, 'telling', 'last_us', 'last_digest')} "
    f"WHERE {_EARLIER} OR {_LATER}"
)
_LATER_FACET: Final = "(excluded.stamp_us, excluded.stamp_digest) > (job_facet.stamp_us, job_facet.stamp_digest)"
JOB_FACET: Final = (
    "ON CONFLICT (job, name, content) DO UPDATE SET "
    f"{_new_if('excluded.first_us < job_facet.first_us', 'job_facet', 'first_us')}, "
    f"{_new_if(_LATER_FACET, 'job_facet', 'stamp_us', 'stamp_digest')} "
    f"WHERE excluded.first_us < job_facet.first_us OR {_LATER_FACET}"
)
EDIT: Final = (
    f"ON CONFLICT (target, what) DO UPDATE SET {_wider('edit')}, "
    f"{_new_if('(excluded.log_idx, excluded.value) > (edit.log_idx, edit.value)', 'edit', 'log_idx', 'value')}"
)
CHAIN_LINK: Final = (
    "ON CONFLICT (epoch, sequence, digest) DO UPDATE SET "
    f"{_new_if('excluded.received_us < chain_link.received_us', 'chain_link', 'received_us')}, "
    f"{_new_if('excluded.is_proved > chain_link.is_proved', 'chain_link', 'is_proved')}"
)
