"""The tables, in SQLite's SQL; `postgres_sql` translates it for PostgreSQL.

Each step upgrades the schema from the version before. Released steps are never changed: a new version is a new step at
the end.
"""

from collections.abc import Sequence
from typing import Final

ROWS_AS_THEY_CAME: Final = 6
"""The version from which contents are in insertion order, not by digest; PostgreSQL never had another order."""

STEPS: Final[Sequence[str]] = (
    # 1
    """
CREATE TABLE log (
  idx INTEGER PRIMARY KEY,             -- 0, 1, 2 … without holes, in the order of acknowledgement
  digest BLOB NOT NULL UNIQUE,         -- SHA-256 of raw
  received_us INTEGER NOT NULL,
  event_us INTEGER NOT NULL,
  event_type TEXT NOT NULL,            -- START … OTHER, JOB, DATASET, EDIT
  run INTEGER,
  verdict TEXT NOT NULL,
  key_id TEXT,
  packed BLOB NOT NULL                 -- raw, as one Zstandard frame
) STRICT;
CREATE INDEX log_by_event_time ON log (event_us, event_type);  -- whole, for counting by the hour
CREATE INDEX log_by_run ON log (run, verdict, key_id);  -- whole, so that counting verdicts never reads raw

CREATE TABLE folded (events INTEGER NOT NULL) STRICT;  -- of how many the facts are in the tables below; one row
INSERT INTO folded VALUES (0);

-- Numbers stand for runs and names: rows of a new run then all go to the end of their tables.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  run_id ANY NOT NULL UNIQUE           -- 16 bytes of a UUID, or the text of an id that is none
) STRICT;

CREATE TABLE name (
  id INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (namespace, name)
) STRICT;

CREATE TABLE content (digest BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE run_times (
  run INTEGER PRIMARY KEY, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  rank INTEGER NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL, state TEXT NOT NULL
) STRICT;

CREATE TABLE run_of_job (
  run INTEGER PRIMARY KEY, job INTEGER NOT NULL, parent_run TEXT, parent_job INTEGER,
  stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL
) STRICT;
CREATE INDEX run_of_job_by_job ON run_of_job (job);

CREATE TABLE run_facet (
  run INTEGER, name TEXT, content BLOB NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_facet (
  job INTEGER, name TEXT, content BLOB NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE observation (
  run INTEGER, direction TEXT, dataset INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, direction, dataset)
) STRICT, WITHOUT ROWID;

CREATE TABLE observed_facet (
  run INTEGER, direction TEXT, dataset INTEGER, slot TEXT, name TEXT,
  content BLOB NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (run, direction, dataset, slot, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX observed_shape ON observed_facet (dataset, name, stamp_us, stamp_digest)
  WHERE slot = 'facets' AND name IN ('schema', 'version');  -- which shape a dataset had when

CREATE TABLE column_evidence (
  run INTEGER, target INTEGER, strength INTEGER, content BLOB, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, target, strength, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE declaration (
  kind TEXT, node INTEGER, content BLOB NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (kind, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE alias (
  name INTEGER, alias INTEGER, evidence TEXT, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (name, alias, evidence)
) STRICT, WITHOUT ROWID;

CREATE TABLE catalog_entry (
  dataset INTEGER, kind TEXT, catalog TEXT, metadata_uri TEXT, warehouse_uri TEXT, table_name TEXT,
  first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (dataset, kind, catalog, metadata_uri, warehouse_uri, table_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE ending (
  run INTEGER, state TEXT, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE control_flow (
  run INTEGER, way TEXT, job INTEGER, dependency TEXT, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, way, job, dependency)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_flow (                -- an end is a job or a dataset; 'own', 0 is the job of the run itself
  run INTEGER, source_kind TEXT, source INTEGER, target_kind TEXT, target INTEGER,
  first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, source_kind, source, target_kind, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE quarantined (
  subject TEXT, direction TEXT, namespace TEXT, name TEXT, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (subject, direction, namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE edit (
  target TEXT, what TEXT, value BLOB NOT NULL, log_idx INTEGER NOT NULL,  -- target: a JSON array
  first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (target, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX log_edits ON log (event_us) WHERE event_type = 'EDIT';  -- few: for leaving them out of lists of events
""",
    # 2
    """
CREATE TABLE named_job (               -- the runs whose events ever named a job as their own
  job INTEGER, run INTEGER,
  PRIMARY KEY (job, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE leaf (                    -- of each entry of the log, in its transaction
  idx INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,                  -- as it stands in the tree
  commitment BLOB NOT NULL,            -- what the leaf says of the raw bytes
  salt BLOB NOT NULL                   -- 16 random bytes, from which those of the parts follow
) STRICT;

CREATE TABLE tile_root (               -- the head over each full tile of 256 hashes of the level below; leaves are 0
  level INTEGER, place INTEGER, hash BLOB NOT NULL,
  PRIMARY KEY (level, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE tree (                    -- one row: how far the tree is, and what it needs to grow
  id INTEGER PRIMARY KEY, size INTEGER NOT NULL, frontier BLOB NOT NULL
) STRICT;

CREATE TABLE chain_link (              -- epoch: the number of the pair (node, epoch)
  epoch INTEGER, sequence INTEGER, digest BLOB, payload_hash BLOB NOT NULL, previous_hash BLOB NOT NULL,
  event_us INTEGER NOT NULL, received_us INTEGER NOT NULL, is_proved INTEGER NOT NULL, said BLOB NOT NULL,
  PRIMARY KEY (epoch, sequence, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE declared_shape (          -- what each dataset event said a dataset is like
  dataset INTEGER, stamp_us INTEGER, stamp_digest BLOB, schema BLOB, version BLOB,
  PRIMARY KEY (dataset, stamp_us, stamp_digest)
) STRICT, WITHOUT ROWID;

DELETE FROM edit;                      -- what the log tells is told again, for the new tables
UPDATE folded SET events = 0;
""",
    # 3
    """
CREATE TABLE engine_catalog (          -- what a query engine means by the first word of its names for tables
  engine TEXT, word TEXT, kind TEXT, metadata_uri TEXT, warehouse_uri TEXT, namespace TEXT, prefix TEXT,
  first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (engine, word, kind, metadata_uri, warehouse_uri, namespace, prefix)
) STRICT, WITHOUT ROWID;

DELETE FROM edit;                      -- events of Trino tell more than they did
UPDATE folded SET events = 0;
""",
    # 4
    """
CREATE TABLE declared_times (          -- when job events and dataset events named a node, replaced ones too
  kind TEXT, node INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (kind, node)
) STRICT, WITHOUT ROWID;

DELETE FROM edit;                      -- what was declared first stands in the log only
UPDATE folded SET events = 0;
""",
    # 5
    """
DROP TABLE run_of_job;
CREATE TABLE run_of_job (
  run INTEGER PRIMARY KEY, job INTEGER NOT NULL,
  parent_run TEXT, parent_job INTEGER, root_run TEXT, root_job INTEGER,  -- of those that it is told to be a part of
  stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL
) STRICT;
CREATE INDEX run_of_job_by_job ON run_of_job (job);

DELETE FROM edit;                      -- a root that only others name brings back what was deleted
UPDATE folded SET events = 0;
""",
    # 6
    """
ALTER TABLE content RENAME TO content_by_digest;
CREATE TABLE content (                 -- as they came: digests are as good as random, and few bodies share a page
  digest BLOB PRIMARY KEY NOT NULL, body BLOB NOT NULL
) STRICT;
INSERT INTO content SELECT * FROM content_by_digest;
DROP TABLE content_by_digest;
""",
    # 7
    """
DROP INDEX observed_shape;
CREATE TABLE told_shape (              -- which schema or version a run told of a dataset, and when first and last
  dataset INTEGER, part TEXT, content BLOB, run INTEGER, direction TEXT,
  first_us INTEGER NOT NULL, first_digest BLOB NOT NULL, last_us INTEGER NOT NULL, last_digest BLOB NOT NULL,
  PRIMARY KEY (dataset, part, content, run, direction)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_shape_by_first ON told_shape (dataset, part, first_us, first_digest);
CREATE INDEX told_shape_by_last ON told_shape (dataset, part, last_us, last_digest);

DELETE FROM edit;                      -- what a stream told before it told otherwise stands in the log only
UPDATE folded SET events = 0;
""",
    # 8
    """
DROP TABLE told_shape;
CREATE TABLE telling (                 -- which schema, version or quality a run told of a dataset, first and last
  dataset INTEGER, facet TEXT, content BLOB, run INTEGER, direction TEXT,
  first_us INTEGER NOT NULL, first_digest BLOB NOT NULL, last_us INTEGER NOT NULL, last_digest BLOB NOT NULL,
  PRIMARY KEY (dataset, facet, content, run, direction)
) STRICT, WITHOUT ROWID;
CREATE INDEX telling_by_first ON telling (dataset, facet, first_us, first_digest);
CREATE INDEX telling_by_last ON telling (dataset, facet, last_us, last_digest);

DELETE FROM edit;                      -- what a stream told before it told otherwise stands in the log only
UPDATE folded SET events = 0;
""",
    # 9
    """
DROP TABLE job_facet;
CREATE TABLE job_facet (               -- what a facet of a job ever said, and when first and last
  job INTEGER, name TEXT, content BLOB,
  first_us INTEGER NOT NULL, stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (job, name, content)
) STRICT, WITHOUT ROWID;

DELETE FROM edit;                      -- what was told before something else was stands in the log only
UPDATE folded SET events = 0;
""",
    # 10
    """
DELETE FROM alias;                     -- facets that were taken back had been read as if they stood: all that may come
DELETE FROM catalog_entry;             -- from these is told again by the log
DELETE FROM engine_catalog;
DELETE FROM control_flow;
DELETE FROM job_flow;
DELETE FROM run_of_job;
DELETE FROM observation;
DELETE FROM column_evidence;
DELETE FROM declaration;

DELETE FROM edit;
UPDATE folded SET events = 0;
""",
    # 11
    """
UPDATE folded SET events = 0           -- events whose signature was erased have lost their place in a node's record,
WHERE EXISTS (SELECT 1 FROM edit WHERE what LIKE 'erased:%');  -- which the log still tells: all facts are made anew
DELETE FROM alias WHERE (SELECT events FROM folded) = 0;
DELETE FROM catalog_entry WHERE (SELECT events FROM folded) = 0;
DELETE FROM chain_link WHERE (SELECT events FROM folded) = 0;
DELETE FROM column_evidence WHERE (SELECT events FROM folded) = 0;
DELETE FROM content WHERE (SELECT events FROM folded) = 0;
DELETE FROM control_flow WHERE (SELECT events FROM folded) = 0;
DELETE FROM declaration WHERE (SELECT events FROM folded) = 0;
DELETE FROM declared_shape WHERE (SELECT events FROM folded) = 0;
DELETE FROM declared_times WHERE (SELECT events FROM folded) = 0;
DELETE FROM edit WHERE (SELECT events FROM folded) = 0;
DELETE FROM ending WHERE (SELECT events FROM folded) = 0;
DELETE FROM engine_catalog WHERE (SELECT events FROM folded) = 0;
DELETE FROM job_facet WHERE (SELECT events FROM folded) = 0;
DELETE FROM job_flow WHERE (SELECT events FROM folded) = 0;
DELETE FROM named_job WHERE (SELECT events FROM folded) = 0;
DELETE FROM observation WHERE (SELECT events FROM folded) = 0;
DELETE FROM observed_facet WHERE (SELECT events FROM folded) = 0;
DELETE FROM quarantined WHERE (SELECT events FROM folded) = 0;
DELETE FROM run_facet WHERE (SELECT events FROM folded) = 0;
DELETE FROM run_of_job WHERE (SELECT events FROM folded) = 0;
DELETE FROM run_times WHERE (SELECT events FROM folded) = 0;
DELETE FROM telling WHERE (SELECT events FROM folded) = 0;
""",
    # 12
    """
DELETE FROM column_evidence;           -- facets that say nothing of where data comes from had been read as if they said
DELETE FROM declaration;               -- that it comes from nowhere, and what job events tell of a read was not

DELETE FROM edit;
UPDATE folded SET events = 0;
""",
    # 13
    """
DELETE FROM run_of_job;                -- `parentRun` was not read as `parent`, and a root that is the parent's own run

UPDATE folded SET events = 0;          -- could be of a job that nobody else named
""",
    # 14
    """
CREATE TABLE run_telling (             -- which tests a run ever told of, and when it last did
  run INTEGER, name TEXT, content BLOB,
  stamp_us INTEGER NOT NULL, stamp_digest BLOB NOT NULL,
  PRIMARY KEY (run, name, content)
) STRICT, WITHOUT ROWID;

UPDATE folded SET events = 0;          -- passwords that were told in addresses stood in names and facets as they came:
DELETE FROM alias;                     -- all facts are made anew, without them
DELETE FROM catalog_entry;
DELETE FROM chain_link;
DELETE FROM column_evidence;
DELETE FROM content;
DELETE FROM control_flow;
DELETE FROM declaration;
DELETE FROM declared_shape;
DELETE FROM declared_times;
DELETE FROM edit;
DELETE FROM ending;
DELETE FROM engine_catalog;
DELETE FROM job_facet;
DELETE FROM job_flow;
DELETE FROM named_job;
DELETE FROM observation;
DELETE FROM observed_facet;
DELETE FROM quarantined;
DELETE FROM run_facet;
DELETE FROM run_of_job;
DELETE FROM run_times;
DELETE FROM telling;
""",
    # 15
    """
DROP TABLE job_flow;
CREATE TABLE job_flow (                -- an end is a job or a dataset; 'own', 0 is the job of the run itself
  run INTEGER, source_kind TEXT, source INTEGER, source_run TEXT, target_kind TEXT, target INTEGER, target_run TEXT,
  first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,  -- the runs of jobs at the ends, where they are told, else ''
  PRIMARY KEY (run, source_kind, source, source_run, target_kind, target, target_run)
) STRICT, WITHOUT ROWID;

-- Which run of a job a flow came from or went into had not been read, and a job was declared to write whatever its
-- `lineage` facet tells the sources of.
DELETE FROM declaration;
UPDATE folded SET events = 0;
""",
    # 16
    """
-- When a run was first told to be under way, which may be long after it was created; NULL where nothing told that.
ALTER TABLE run_times ADD COLUMN started_us INTEGER;
UPDATE run_times SET started_us = (
  SELECT min(event_us) FROM log WHERE log.run = run_times.run AND event_type IN ('START', 'RUNNING')
);
""",
    # 17
    """
UPDATE folded SET events = 0           -- of statements about a key only the last was kept, whoever had signed it
WHERE EXISTS (SELECT 1 FROM edit WHERE target LIKE '["key"%');
DELETE FROM edit WHERE (SELECT events FROM folded) = 0;
""",
    # 18
    """
CREATE TABLE use_evidence (            -- the `lineage` facets by which a run ever said what jobs use themselves
  run INTEGER, content BLOB, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE renaming (                -- that a run told to rename a dataset, which counts unless it failed
  run INTEGER, name INTEGER, former INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (run, name, former)
) STRICT, WITHOUT ROWID;

DELETE FROM declaration;               -- in which it had not been read
DELETE FROM alias;                     -- in which it had been told whoever failed
UPDATE folded SET events = 0;
""",
    # 19
    """
DELETE FROM catalog_entry;             -- the place of a table had to be spelt as the warehouse that it lies in

UPDATE folded SET events = 0;
""",
    # 20
    """
CREATE TABLE deletion (                -- each time that something was deleted over the API, or restored
  target TEXT, log_idx INTEGER, is_deleted INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY (target, log_idx, is_deleted)
) STRICT, WITHOUT ROWID;

UPDATE folded SET events = 0           -- of which only the last was stored
WHERE EXISTS (SELECT 1 FROM edit WHERE what = 'deleted');
DELETE FROM edit WHERE (SELECT events FROM folded) = 0;
""",
)
