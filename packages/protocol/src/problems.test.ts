import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM_CATEGORIES, PROBLEM_CODES, problems, problemSlug } from './problems.ts'

test('[API-05][PKG-06] the two codes of the specification are exact, and only they have that basis', () => {
  const { status, retryable } = problems.protocol_version_incompatible
  assert.deepEqual({ status, retryable }, { status: 409, retryable: false })
  assert.equal(problems.idempotency_key_reuse.status, 409)
  assert.deepEqual(
    PROBLEM_CODES.filter((code) => problems[code].basis === 'specification'),
    ['protocol_version_incompatible', 'idempotency_key_reuse'],
  )
})

test('[ERR-03] each expected category has its own code', () => {
  for (const category of PROBLEM_CATEGORIES) {
    assert.ok(
      PROBLEM_CODES.some((code) => problems[code].category === category),
      category,
    )
  }
})

test('[ERR-01] statuses are failures, slugs are distinct, and only temporary problems are retryable', () => {
  for (const code of PROBLEM_CODES) {
    const { status, retryable, advice, title } = problems[code]
    assert.ok(status >= 400 && status < 600, code)
    assert.equal(retryable, [408, 429, 500, 503].includes(status), code)
    assert.ok(advice.endsWith('.') && !title.endsWith('.'), code)
  }
  assert.equal(new Set(PROBLEM_CODES.map(problemSlug)).size, PROBLEM_CODES.length)
})
