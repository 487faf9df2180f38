/**
 * Schema of the inbox file. Names begin with `aex_`, since the application may keep its own tables in the file: this
 * lets an effect and the mark of its event share one transaction.
 */
export const INBOX_SCHEMA = `
  create table if not exists aex_event (
    event_id text primary key,
    sequence integer not null unique,
    notification_id text not null,
    body text not null,
    source text not null check (source in ('webhook', 'poll')),
    stored_at text not null,
    state text not null default 'pending' check (state in ('pending', 'processed', 'set_aside')),
    attempts integer not null default 0,
    reason text,
    finished_at text,
    acknowledge_mark integer,
    acknowledged_at text
  ) strict;
  create index if not exists aex_event_by_state on aex_event (state, sequence);
  create index if not exists aex_event_unacknowledged on aex_event (sequence)
    where acknowledge_mark is not null and acknowledged_at is null;
  create table if not exists aex_gap (
    first_sequence integer primary key,
    last_sequence integer not null check (last_sequence >= first_sequence),
    reason text not null,
    noticed_at text not null
  ) strict;
  create table if not exists aex_finished_subject (subject text primary key) strict, without rowid;
  create table if not exists aex_value (name text primary key, value text not null) strict;
`

/** Incremented with every incompatible change of the schema. */
export const INBOX_VERSION = '1'
