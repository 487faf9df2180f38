import type { World } from './world.ts'

/** The number of stored entries of a thread whose link does not match the previous entry. */
export async function brokenLinks({ sql }: World, threadId: string): Promise<number> {
  const broken = await sql`
    with entry as (
      select coalesce(stored -> 'entry' ->> 'position', stored ->> 'position')::bigint as position,
        stored ->> 'hash' as hash,
        coalesce(stored -> 'entry' -> 'proof' ->> 'previous_hash', stored ->> 'previous_hash') as previous
      from audit_record, json_array_elements(entries::json) as stored where thread_id = ${threadId})
    select from entry left join entry as before on before.position = entry.position - 1
    where entry.previous is distinct from before.hash`
  return broken.length
}
