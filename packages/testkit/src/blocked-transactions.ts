const MAXIMUM_LOOKS = 2_000
const PAUSE_MILLISECONDS = 5

/** The pool of a world, or a transaction. */
interface Queries {
  (statement: TemplateStringsArray): PromiseLike<{ readonly length: number }>
}

/** Waits until this many transactions of the database wait for a lock, to arrange a race in a test. */
export async function untilBlocked({ sql }: { readonly sql: Queries }, count: number): Promise<void> {
  for (let looks = 0; looks < MAXIMUM_LOOKS; looks++) {
    // Within a transaction the first look would be repeated.
    await sql`select pg_stat_clear_snapshot()`
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (waiting.length >= count) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS))
  }
  throw new Error('nobody waits')
}
