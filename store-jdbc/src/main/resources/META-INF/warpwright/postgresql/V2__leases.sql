-- Leases of stores, runs that are due, and what runs are found by.

-- A store holds its runs until lease_until, in milliseconds of the database's clock. Who takes over
-- raises the epoch; the runs of an earlier epoch are then freed, until freed says that none is
-- left. The incarnation tells the openings under one name apart. Stores of the version before this
-- one renew nothing, and lose their runs a little after it came.
ALTER TABLE ww_worker ADD COLUMN incarnation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ww_worker ADD COLUMN lease_until BIGINT;
ALTER TABLE ww_worker ADD COLUMN freed BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE ww_worker
  SET lease_until = (extract(epoch FROM statement_timestamp()) * 1000)::bigint + 15000;

-- Whose runs the stores that are open drive.
CREATE TABLE ww_worker_agent (
  worker   TEXT COLLATE "C" NOT NULL,
  agent_id TEXT COLLATE "C" NOT NULL,
  CONSTRAINT ww_worker_agent_identity PRIMARY KEY (agent_id, worker)
);

-- From when on a driver may take the run up if it has no worker, how often in a row one did in
-- vain, and what the last one said.
ALTER TABLE ww_run ADD COLUMN due_nanos BIGINT;
ALTER TABLE ww_run ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ww_run ADD COLUMN problem TEXT;

-- The names of the signals that it waits for, encoded as in a URL, with blanks between.
ALTER TABLE ww_run ADD COLUMN signals TEXT;

UPDATE ww_run SET due_nanos = updated_nanos WHERE status IN ('RUNNING', 'CANCEL_REQUESTED');

-- An append to a run that is driven changes no column that an index has, so that PostgreSQL need not
-- write to the indexes, and finds room on the same page: the columns below, null in a run that has a
-- worker, stand for those that change.
ALTER TABLE ww_run ADD COLUMN ready_nanos BIGINT
  GENERATED ALWAYS AS (CASE WHEN worker IS NULL AND claims < 5 THEN due_nanos END) STORED;
ALTER TABLE ww_run ADD COLUMN idle_nanos BIGINT
  GENERATED ALWAYS AS (CASE WHEN worker IS NULL THEN updated_nanos END) STORED;
ALTER TABLE ww_run SET (fillfactor = 50);

CREATE INDEX ww_run_due ON ww_run (agent_id, ready_nanos, run_id) WHERE ready_nanos IS NOT NULL;

CREATE INDEX ww_run_worker ON ww_run (worker, owner_epoch) WHERE worker IS NOT NULL;

CREATE INDEX ww_run_cancel ON ww_run (worker)
  WHERE worker IS NOT NULL AND status = 'CANCEL_REQUESTED';

-- A list is sorted from two parts: runs without a worker in the order of the index, and those with
-- one, which are as many as are being driven.
DROP INDEX ww_run_list;
CREATE INDEX ww_run_list
  ON ww_run (status, tenant, user_id, namespace, idle_nanos DESC, run_id)
  WHERE idle_nanos IS NOT NULL;
CREATE INDEX ww_run_driven ON ww_run (tenant, user_id, namespace) WHERE worker IS NOT NULL;

CREATE INDEX ww_run_quarantined ON ww_run (tenant, user_id, namespace) WHERE claims >= 5;

CREATE INDEX ww_run_ended ON ww_run (idle_nanos)
  WHERE idle_nanos IS NOT NULL AND status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT');

ALTER TABLE ww_run DROP CONSTRAINT ww_run_key;
CREATE UNIQUE INDEX ww_run_key ON ww_run (idempotency_key, tenant, user_id, namespace)
  WHERE idempotency_key IS NOT NULL;

-- What runs were started with, as far as names and values have at most 256 characters; only of
-- runs that were started with this version or a later one.
CREATE TABLE ww_run_metadata (
  run   BIGINT           NOT NULL,
  name  TEXT COLLATE "C" NOT NULL,
  note  TEXT COLLATE "C" NOT NULL,
  CONSTRAINT ww_run_metadata_identity PRIMARY KEY (run, name)
);

CREATE INDEX ww_run_metadata_note ON ww_run_metadata (name, note, run);

-- Signals from when they are sent, whether or not they are awaited; the body is UTF-8 JSON.
CREATE TABLE ww_signal (
  run        BIGINT           NOT NULL,
  signal_id  TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  arrival    BIGINT GENERATED ALWAYS AS IDENTITY,
  body       BYTEA            NOT NULL,
  sent_nanos BIGINT           NOT NULL,
  consumed   BOOLEAN          NOT NULL DEFAULT FALSE,
  CONSTRAINT ww_signal_identity PRIMARY KEY (run, signal_id)
);
