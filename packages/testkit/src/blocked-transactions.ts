import { until } from './until.ts'

/** The pool of a world, or a transaction. */
interface Queries {
  (statement: TemplateStringsArray): PromiseLike<{ readonly length: number }>
}

/** Waits until this many transactions of the database wait for a lock, to arrange a race in a test. */
export async function untilBlocked(world: { readonly sql: Queries }, count: number): Promise<void> {
  await until(`${count} transactions wait for a lock`, async () => (await countBlocked(world)) >= count)
}

export async function countBlocked({ sql }: { readonly sql: Queries }): Promise<number> {
  // Within a transaction the first look would be repeated.
  await sql`select pg_stat_clear_snapshot()`
  const waiting = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return waiting.length
}
