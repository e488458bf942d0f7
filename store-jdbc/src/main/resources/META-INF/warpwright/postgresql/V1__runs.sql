-- The event log and its index. Times of events are nanoseconds since 1970; an absent user or
-- namespace of a scope is the empty text, which no present one can be. Texts that are compared are
-- in the collation of their bytes, so that an order does not depend on the server's locale.

-- The stores that are or were open, by their owner name. An epoch that was raised never stands
-- again, so no row is deleted while a run may point to it.
CREATE TABLE ww_worker (
  id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  epoch         BIGINT           NOT NULL,
  pid           BIGINT           NOT NULL,
  started_nanos BIGINT           NOT NULL
);

-- What of a run can be asked for without reading its log. The id stands for scope and run id. The
-- run has an owner while the epoch of its worker is that of the owner. Each index begins with a
-- column of its own: until the table is analysed, the planner would take any that begins with the
-- scope, and read all runs of the scope to find one.
CREATE TABLE ww_run (
  id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant          TEXT COLLATE "C" NOT NULL,
  user_id         TEXT COLLATE "C" NOT NULL,
  namespace       TEXT COLLATE "C" NOT NULL,
  run_id          TEXT COLLATE "C" NOT NULL,
  agent_id        TEXT COLLATE "C" NOT NULL,
  idempotency_key TEXT COLLATE "C",
  status          TEXT COLLATE "C" NOT NULL,
  sequence        BIGINT           NOT NULL,
  worker          TEXT COLLATE "C",
  owner           TEXT COLLATE "C",
  owner_epoch     BIGINT           NOT NULL,
  created_nanos   BIGINT           NOT NULL,
  updated_nanos   BIGINT           NOT NULL,
  CONSTRAINT ww_run_identity UNIQUE (run_id, tenant, user_id, namespace),
  CONSTRAINT ww_run_key UNIQUE (idempotency_key, tenant, user_id, namespace)
);

CREATE INDEX ww_run_list
  ON ww_run (status, tenant, user_id, namespace, updated_nanos DESC, run_id);

-- The log. Codec 1: the body is UTF-8 JSON.
CREATE TABLE ww_event (
  run         BIGINT           NOT NULL,
  sequence    BIGINT           NOT NULL,
  append_id   BIGINT           NOT NULL,
  type        TEXT COLLATE "C" NOT NULL,
  version     INTEGER          NOT NULL,
  writer      TEXT COLLATE "C" NOT NULL,
  epoch       BIGINT           NOT NULL,
  time_nanos  BIGINT           NOT NULL,
  codec       SMALLINT         NOT NULL,
  body        BYTEA            NOT NULL,
  CONSTRAINT ww_event_sequence PRIMARY KEY (run, sequence)
);
