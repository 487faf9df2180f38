-- phase: expand
-- runs beside: 0003

-- One row an agent: how far its event stream was read, and who handles the event at the head of the queue.
create table agent_stream (
  agent_id text primary key references gateway_agent,
  stream text,
  cursor text,
  polled_through bigint not null default 0,
  contiguous bigint not null default 0,
  highest bigint not null default 0,
  pruned_through bigint not null default -1,
  lease_event_id text,
  lease_holder text,
  lease_until timestamptz
);

create table agent_event (
  agent_id text not null references gateway_agent,
  event_id text not null,
  sequence bigint not null,
  notification_id text not null,
  body text not null,
  source text not null,
  -- Text as the SDK wrote it: an acknowledgement repeats it.
  stored_at text not null,
  state text not null default 'pending' check (state in ('pending', 'processed', 'set_aside')),
  attempts integer not null default 0,
  reason text,
  finished_at text,
  acknowledge_mark bigint,
  acknowledged_at text,
  primary key (agent_id, event_id),
  unique (agent_id, sequence)
);
create index agent_event_by_state on agent_event (agent_id, state, sequence);
create index agent_event_unacknowledged on agent_event (agent_id, sequence)
  where acknowledge_mark is not null and acknowledged_at is null;

create table agent_gap (
  agent_id text not null references gateway_agent,
  first_sequence bigint not null,
  last_sequence bigint not null,
  reason text not null,
  noticed_at text not null,
  primary key (agent_id, first_sequence)
);

-- Subjects, such as packages, that were handled. Never pruned: a repeated event is recognized for ever.
create table agent_finished_subject (
  agent_id text not null references gateway_agent,
  subject text not null,
  primary key (agent_id, subject)
);

create table agent_stream_value (
  agent_id text not null references gateway_agent,
  name text not null,
  value text not null,
  primary key (agent_id, name)
);
