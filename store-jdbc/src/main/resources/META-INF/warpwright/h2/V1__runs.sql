-- The event log and its index. Times of events are nanoseconds since 1970; an absent user or
-- namespace of a scope is the empty text, which no present one can be.

CREATE TABLE ww_worker (
  id            VARCHAR(64)  NOT NULL PRIMARY KEY,
  epoch         BIGINT       NOT NULL,
  name          VARCHAR      NOT NULL,
  pid           BIGINT       NOT NULL,
  started_nanos BIGINT       NOT NULL
);

-- What of a run can be asked for without reading its log. The id stands for scope and run id.
CREATE TABLE ww_run (
  id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant          VARCHAR(256) NOT NULL,
  user_id         VARCHAR(256) NOT NULL,
  namespace       VARCHAR(256) NOT NULL,
  run_id          VARCHAR(128) NOT NULL,
  agent_id        VARCHAR      NOT NULL,
  idempotency_key VARCHAR,
  status          VARCHAR(32)  NOT NULL,
  sequence        BIGINT       NOT NULL,
  owner           VARCHAR,
  owner_epoch     BIGINT       NOT NULL,
  created_nanos   BIGINT       NOT NULL,
  updated_nanos   BIGINT       NOT NULL,
  CONSTRAINT ww_run_identity UNIQUE (tenant, user_id, namespace, run_id),
  CONSTRAINT ww_run_key UNIQUE (tenant, user_id, namespace, idempotency_key)
);

CREATE INDEX ww_run_list
  ON ww_run (tenant, user_id, namespace, status, updated_nanos DESC, run_id);

-- The log. Codec 1: the body is UTF-8 JSON.
CREATE TABLE ww_event (
  run         BIGINT      NOT NULL,
  sequence    BIGINT      NOT NULL,
  append_id   BIGINT      NOT NULL,
  type        VARCHAR(64) NOT NULL,
  version     INTEGER     NOT NULL,
  writer      VARCHAR     NOT NULL,
  epoch       BIGINT      NOT NULL,
  time_nanos  BIGINT      NOT NULL,
  codec       SMALLINT    NOT NULL,
  body        VARBINARY   NOT NULL,
  CONSTRAINT ww_event_sequence PRIMARY KEY (run, sequence)
);
