-- phase: expand
-- runs beside: 0027

-- Until when the sender of a received package asked for an answer. Removed with the content of the package.
create table response_deadline (
  agent_id text not null references gateway_agent,
  package_id text not null,
  thread_id text not null,
  due_at timestamptz not null,
  received_at timestamptz not null,
  primary key (agent_id, package_id)
);
create index response_deadline_due on response_deadline (due_at);

-- Mail that was handed to the mail server, for the daily limit. It holds no text.
create table mail (
  mail_id text primary key,
  kind text not null check (kind in ('news', 'trouble')),
  claimed_at timestamptz not null
);
create index mail_recent on mail (kind, claimed_at);

-- What a mail has told, while it lasts: nothing is told twice.
create table mailed_event (
  event text primary key,
  mail_id text not null,
  claimed_at timestamptz not null
);
