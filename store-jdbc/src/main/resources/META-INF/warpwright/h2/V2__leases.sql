-- Runs that are due, and what runs are found by.

-- Whose runs this process drives.
CREATE TABLE ww_worker_agent (
  worker   VARCHAR(64) NOT NULL,
  agent_id VARCHAR     NOT NULL,
  CONSTRAINT ww_worker_agent_identity PRIMARY KEY (agent_id, worker)
);

-- From when on a driver may take the run up if nobody owns it, how often in a row one did in vain,
-- and what the last one said.
ALTER TABLE ww_run ADD COLUMN due_nanos BIGINT;
ALTER TABLE ww_run ADD COLUMN claims INTEGER DEFAULT 0 NOT NULL;
ALTER TABLE ww_run ADD COLUMN problem VARCHAR;

-- The names of the signals that it waits for, encoded as in a URL, with blanks between.
ALTER TABLE ww_run ADD COLUMN signals VARCHAR;

UPDATE ww_run SET due_nanos = updated_nanos WHERE status IN ('RUNNING', 'CANCEL_REQUESTED');

-- H2 has no partial indexes: these columns are null in the runs that an index is not about.
ALTER TABLE ww_run ADD COLUMN ready_nanos BIGINT
  GENERATED ALWAYS AS (CASE WHEN owner IS NULL AND claims < 5 THEN due_nanos END);
ALTER TABLE ww_run ADD COLUMN ended_nanos BIGINT
  GENERATED ALWAYS AS (
    CASE WHEN status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT') THEN updated_nanos END);

CREATE INDEX ww_run_due ON ww_run (agent_id, ready_nanos, run_id);
CREATE INDEX ww_run_ended ON ww_run (ended_nanos);
CREATE INDEX ww_run_owned ON ww_run (owner_epoch);

-- What runs were started with, as far as names and values have at most 256 characters; only of
-- runs that were started with this version or a later one.
CREATE TABLE ww_run_metadata (
  run   BIGINT       NOT NULL,
  name  VARCHAR(256) NOT NULL,
  note  VARCHAR(256) NOT NULL,
  CONSTRAINT ww_run_metadata_identity PRIMARY KEY (run, name)
);

CREATE INDEX ww_run_metadata_note ON ww_run_metadata (name, note, run);

-- Signals from when they are sent, whether or not they are awaited; the body is UTF-8 JSON.
CREATE TABLE ww_signal (
  run        BIGINT       NOT NULL,
  signal_id  VARCHAR(160) NOT NULL,
  name       VARCHAR(160) NOT NULL,
  arrival    BIGINT GENERATED ALWAYS AS IDENTITY,
  body       VARBINARY    NOT NULL,
  sent_nanos BIGINT       NOT NULL,
  consumed   BOOLEAN      DEFAULT FALSE NOT NULL,
  CONSTRAINT ww_signal_identity PRIMARY KEY (run, signal_id)
);
