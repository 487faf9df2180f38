import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExchangeError } from '@agent-exchange/sdk'
import { GatewayProblem, gatewayProblems } from '../problems.ts'
import { asGatewayProblem } from './exchange-failures.ts'

test('a key module that is away and drafts that fill an agent have problems of their own', () => {
  for (const [error, code, status, retryable] of [
    [new ExchangeError('key_unavailable'), 'key_module_unavailable', 503, true],
    [new ExchangeError('exchange_unreachable'), 'exchange_unavailable', 503, true],
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
