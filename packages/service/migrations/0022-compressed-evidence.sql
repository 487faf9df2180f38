-- phase: expand
-- runs beside: 0009
-- locks: policy_receipt access exclusive; audit_record access exclusive

-- The rows that are kept for ever had grown until a page held one policy receipt or two audit records
-- (docs/decisions/0040-cheaper-evidence.md). Their largest texts are compressed until a page holds three or four, and stay in the
-- row. Rows that exist stay as they are.
alter table policy_receipt alter column body set storage main, alter column audit_entries set storage main;
alter table audit_record alter column entries set storage main;
-- A row is compressed only as far as this: three fit in a page.
alter table policy_receipt set (toast_tuple_target = 2680);
alter table audit_record set (toast_tuple_target = 2000);

-- lz4 costs nothing that can be measured. A server that was built without it uses its own method.
do $$
begin
  alter table policy_receipt alter column body set compression lz4, alter column audit_entries set compression lz4;
  alter table audit_record alter column entries set compression lz4;
exception when feature_not_supported then null;
end $$;
