-- Budgets and admission that several processes share. Amounts are billionths of the currency's
-- unit. Times are milliseconds since 1970 by the clock of this server.

-- The budget stores that live: one whose lease has ended is taken for dead.
CREATE TABLE ww_budget_lease (
  holder       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  until_millis BIGINT           NOT NULL
);

-- The accounts. Reserved and uncertain are the sums of what the reservations hold.
CREATE TABLE ww_budget (
  scope           TEXT COLLATE "C" NOT NULL,
  currency        TEXT COLLATE "C" NOT NULL,
  spent_nanos     BIGINT           NOT NULL,
  estimated_nanos BIGINT           NOT NULL,
  reserved_nanos  BIGINT           NOT NULL,
  uncertain_nanos BIGINT           NOT NULL,
  CONSTRAINT ww_budget_account PRIMARY KEY (scope, currency)
);

-- What is not spent or given back yet. The state is RESERVED, for the holder of a lease, or
-- UNCERTAIN or ABANDONED, for nobody. The reference makes who reserves and who finds that the lease
-- has ended wait for each other.
CREATE TABLE ww_budget_reservation (
  id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  scope           TEXT COLLATE "C" NOT NULL,
  currency        TEXT COLLATE "C" NOT NULL,
  amount_nanos    BIGINT           NOT NULL,
  held_nanos      BIGINT           NOT NULL,
  state           TEXT COLLATE "C" NOT NULL,
  holder          TEXT COLLATE "C" REFERENCES ww_budget_lease (holder),
  reserved_millis BIGINT           NOT NULL
);

CREATE INDEX ww_budget_reservation_holder ON ww_budget_reservation (holder);

CREATE INDEX ww_budget_reservation_open
  ON ww_budget_reservation (scope, currency, reserved_millis, id) WHERE state <> 'RESERVED';

-- The admission controllers that live.
CREATE TABLE ww_admission_lease (
  holder       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  until_millis BIGINT           NOT NULL
);

-- The minute windows of the targets; an absent deployment is the empty text. Who admits holds the
-- lock of the row.
CREATE TABLE ww_admission (
  provider     TEXT COLLATE "C" NOT NULL,
  model        TEXT COLLATE "C" NOT NULL,
  deployment   TEXT COLLATE "C" NOT NULL,
  number       BIGINT           NOT NULL,
  start_millis BIGINT           NOT NULL,
  requests     BIGINT           NOT NULL,
  tokens       BIGINT           NOT NULL,
  CONSTRAINT ww_admission_target PRIMARY KEY (provider, model, deployment)
);

-- How many calls of a target each controller has in flight, written by itself. The round is that of
-- its last admission, by which it knows whether a commit that got no answer took place.
CREATE TABLE ww_admission_share (
  provider   TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,
  deployment TEXT COLLATE "C" NOT NULL,
  holder     TEXT COLLATE "C" NOT NULL REFERENCES ww_admission_lease (holder) ON DELETE CASCADE,
  in_flight  BIGINT           NOT NULL,
  round      BIGINT           NOT NULL,
  CONSTRAINT ww_admission_share_of PRIMARY KEY (provider, model, deployment, holder)
);

CREATE INDEX ww_admission_share_holder ON ww_admission_share (holder);
