-- phase: expand
-- runs beside: 0031

-- Who ended a delegation before its day.
alter table approval_delegation add column ended_by text;
