import type { World } from './world.ts'

const MAXIMUM_LOOKS = 500
const PAUSE_MILLISECONDS = 5

/** Waits until this many transactions of the database wait for a lock, to arrange a race in a test. */
export async function untilBlocked({ sql }: World, count: number): Promise<void> {
  for (let looks = 0; looks < MAXIMUM_LOOKS; looks++) {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting.length >= count) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS))
  }
  throw new Error('nobody waits')
}
