-- phase: expand
-- runs beside: 0009
-- locks: organization access exclusive; organization_usage access exclusive

-- From whom an organization accepts packages (O-50) ------------------------------------------------------------------------

alter table organization
  -- anyone: all but blocked senders; listed: only accepted ones. Null: the default of the deployment profile.
  add column accepts_from text check (accepts_from in ('anyone', 'listed')),
  -- What it may send in a UTC day (O-13). Null: the default of the deployment profile; -1: no limit.
  add column packages_per_day bigint check (packages_per_day >= -1),
  add column threads_per_day bigint check (threads_per_day >= -1);
-- Every batch of packages asks which of its senders are limited, and usually none is.
create index organization_limited on organization (organization_id)
  where packages_per_day > -1 or threads_per_day > -1;

create table sender_rule (
  organization_id text not null references organization,
  sender_org_id text not null references organization,
  rule text not null check (rule in ('accept', 'block')),
  changed_at timestamptz not null,
  primary key (organization_id, sender_org_id),
  check (organization_id <> sender_org_id)
);

-- What it sent on that UTC day, without responses.
alter table organization_usage
  add column usage_day date,
  add column packages_of_day bigint not null default 0,
  add column threads_of_day bigint not null default 0;
