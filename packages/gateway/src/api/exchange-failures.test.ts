import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExchangeError } from '@agent-exchange/sdk'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { openPostgresOutbox } from '../stores/outbox.ts'
import { GatewayProblem, gatewayProblems } from '../problems.ts'
import { asGatewayProblem } from './exchange-failures.ts'

const AT = '2026-03-01T08:00:00.000Z'

test('what is away and drafts that fill an agent have problems of their own', () => {
  for (const [error, code, status, retryable] of [
    [new ExchangeError('key_unavailable'), 'key_module_unavailable', 503, true],
    [new ExchangeError('exchange_unreachable'), 'exchange_unavailable', 503, true],
    [new ExchangeError('discovery_failed'), 'exchange_unavailable', 503, true],
    [new ExchangeError('key_store_unavailable', { retryable: true }), 'database_unavailable', 503, true],
    [new ExchangeError('key_store_unavailable'), 'exchange_refused', 409, false],
    [new ExchangeError('draft_limit', { details: { open: 100, maximum: 100 } }), 'draft_limit', 409, false],
    [
      new ExchangeError('draft_limit', { details: { bytes: 3_000_000, maximumBytes: 1 } }),
      'payload_too_large',
      413,
      false,
    ],
  ] as const) {
    const problem = asGatewayProblem(error)
    assert.ok(problem instanceof GatewayProblem)
    assert.equal(problem.code, code)
    assert.deepEqual(
      [gatewayProblems[code].status, gatewayProblems[code].retryable],
      [status, retryable],
      code,
    )
  }
})

test('a database that fails while a package is in the outbox is a problem of the database, and the same request may pass', async () => {
  await using database = await gatewayDatabase()
  const { db } = database
  const outbox = openPostgresOutbox(db, await database.newAgent())
  await db.unsafe(`
    create function end_session() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger ends before insert on agent_outbox for each row execute function end_session()`)
  const entry = { packageId: 'pkg_1', state: 'ready', createdAt: AT, updatedAt: AT } as never
  const error = await outbox.add(entry).catch((failure: unknown) => failure)
  const problem = asGatewayProblem(error)
  assert.ok(problem instanceof GatewayProblem)
  assert.deepEqual([problem.code, problem.details], ['database_unavailable', { retry_after_seconds: 1 }])
})
