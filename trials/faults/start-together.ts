import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { startExchange } from '../shared/exchange.ts'
import type { Trial } from './trial.ts'

const PROCESSES = 5

export const startTogether: Trial = {
  name: 'start-together',
  what: `[API-04] ${PROCESSES} processes start concurrently on an empty database: one migration, one set of keys, one exchange`,
  async run(report) {
    await using database = await emptyTestDatabase()
    await using cleanup = new AsyncDisposableStack()
    const AEX_MASTER_KEY = randomBytes(32).toString('base64url')
    const AEX_PUBLIC_URL = 'http://127.0.0.1:9'
    const started = performance.now()
    const starts = await Promise.allSettled(
      Array.from({ length: PROCESSES }, () =>
        startExchange({ databaseUrl: database.url, env: { AEX_MASTER_KEY, AEX_PUBLIC_URL } }),
      ),
    )
    const exchanges = starts.flatMap((start) =>
      start.status === 'fulfilled' ? [cleanup.use(start.value)] : [],
    )
    for (const start of starts) if (start.status === 'rejected') throw start.reason
    report.line(`${PROCESSES} ready after ${((performance.now() - started) / 1_000).toFixed(1)} s`)

    const [one] = exchanges
    assert.ok(one)
    const { sql } = one
    const [counts] = await sql`
      select (select count(*) from schema_migration)::int as migrations,
        (select count(distinct number) from schema_migration)::int as numbers,
        (select count(*) from operator)::int as operators,
        (select count(*) from agent where agent_id = 'agent_platform')::int as platforms`
    assert.equal(counts?.['migrations'], counts?.['numbers'])
    assert.deepEqual([counts?.['platforms'], counts?.['operators']], [1, 1])
    report.line(`${String(counts?.['migrations'])} migrations, once each; one platform, one first operator`)

    const keys = await Promise.all(
      exchanges.map(
        async ({ url }) => (await fetch(`${url}/oauth/jwks`)).json() as Promise<{ keys: object[] }>,
      ),
    )
    assert.ok(keys[0]?.keys.length)
    for (const each of keys) assert.deepEqual(each, keys[0], 'all processes must publish the same token keys')
  },
}
