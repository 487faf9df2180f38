-- phase: expand
-- runs beside: 0027

-- When the person proved who it is for this session. Null: the provider answered from a sign-in that it already had,
-- so that the session registers no passkey.
alter table desk_session add column proved_at timestamptz;
