import type { Statement } from './queries.ts'

/**
 * PostgreSQL keeps the plan of a prepared statement. A plan that was made while a table was small reads the whole
 * table, and goes on doing so while the table grows, until it is analyzed. Statements sent `byIndex` have an index
 * for every table, and one plan for all values.
 */
const SETTINGS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
}

const calls = Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', true)`)

/** Sent in the same pipeline: the settings end with the transaction, or with the pipeline where there is none. */
export const INDEX_PLANS: Statement = { text: `select ${calls.join(', ')}`, values: [] }
