-- The first start of PostgreSQL in gateway.compose.yaml runs this as its superuser. The gateway gets a role that owns its
-- database and has no other privilege; the superuser is left without a password, so that it works inside the container only.
\getenv password POSTGRES_PASSWORD
create role gateway login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database gateway owner gateway;
alter role current_user password null;
