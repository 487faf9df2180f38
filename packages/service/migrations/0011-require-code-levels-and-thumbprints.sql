-- phase: contract
-- runs beside: 0010
-- locks: oauth_client access exclusive; service_process access exclusive
-- waits while: exists (select from oauth_client where public_jwk is not null and key_thumbprint is null)

-- Every process states its release, so that a later contract migration knows for which processes it must wait.
delete from service_process where code_level is null;
alter table service_process alter column code_level set not null;

-- Every writer sets the thumbprint with the key.
drop trigger oauth_client_clears_thumbprint on oauth_client;
drop function oauth_client_clears_thumbprint();
drop index oauth_client_without_thumbprint;
alter table oauth_client add constraint oauth_client_key_has_thumbprint
  check (public_jwk is null or key_thumbprint is not null);
