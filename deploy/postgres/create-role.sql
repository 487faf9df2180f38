-- The first start of the compose file's PostgreSQL runs this as its superuser. The service gets a role that owns its
-- database and has no other privilege; the superuser is left without a password, so that it works inside the container only.
\getenv password POSTGRES_PASSWORD
create role exchange login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database exchange owner exchange;
alter role current_user password null;
