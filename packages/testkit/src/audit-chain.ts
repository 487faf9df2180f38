import type { World } from './test-world.ts'

/**
 * The number of stored entries of a thread whose link does not match the previous entry of their chain, that of their
 * package or, in version 1, that of the thread; and of chains that do not end where their package says.
 */
export async function brokenLinks({ sql }: World, threadId: string): Promise<number> {
  const broken = await sql`
    with entry as (
      select case when chain_position is null then '' else package_id end as chain,
        case when chain_position is null
          then coalesce(stored -> 'entry' ->> 'position', stored ->> 'position')::bigint
          else chain_position + place - 1 end as position,
        stored ->> 'hash' as hash,
        coalesce(stored -> 'entry' -> 'proof' ->> 'previous_hash', stored ->> 'previous_hash') as previous
      from audit_record, json_array_elements(entries::json) with ordinality as each (stored, place)
      where thread_id = ${threadId})
    select entry.position from entry
    left join entry as before on before.chain = entry.chain and before.position = entry.position - 1
    where case when entry.chain = '' then entry.previous is distinct from before.hash
      else entry.position > 1 and (before.hash is null or coalesce(entry.previous, before.hash) <> before.hash) end
    union all
    select chain_position from package
    left join entry on chain = package_id and position = chain_position
    where thread_id = ${threadId} and chain_position is not null
      and encode(chain_link, 'hex') is distinct from hash`
  return broken.length
}
