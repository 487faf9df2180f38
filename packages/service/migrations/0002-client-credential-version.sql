-- Counts the rotations of a client's credential. Access tokens carry the number, so a rotation ends those before it.
alter table oauth_client add column credential_version integer not null default 0;
