-- phase: expand
-- runs beside: 0030

-- Whom the token names with which a program or a model wrote a draft. A person of this name does not approve it.
create table draft_token_holder (
  agent_id text not null,
  draft_id text not null,
  issuer text not null,
  subject text not null,
  primary key (agent_id, draft_id, issuer, subject)
);
