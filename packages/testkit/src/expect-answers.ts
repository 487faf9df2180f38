import assert from 'node:assert/strict'
import {
  operations,
  problemDetails,
  problems,
  problemSlug,
  validatorOf,
  type Named,
  type OperationId,
  type ProblemCode,
} from '@agent-exchange/protocol'
import type { Answer } from './test-world.ts'

const PROBLEM_MEMBERS = ['code', 'correlation_id', 'details', 'retryable', 'status', 'title', 'type']

/** ERR-01: asserts that the response is this problem in the required form, with at least these details. */
export function assertProblem(answer: Answer, code: ProblemCode, details?: object, about = ''): void {
  const { status, title, retryable } = problems[code]
  const note = `${about} ${answer.status} ${answer.text}`
  assert.equal(answer.body['code'], code, note)
  assert.equal(answer.status, status, note)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, note)
  assert.deepEqual(Object.keys(answer.body).toSorted(), PROBLEM_MEMBERS, note)
  assert.deepEqual(validatorOf(problemDetails)(answer.body), [], note)
  assert.equal(answer.body['status'], status, note)
  assert.equal(answer.body['title'], title, note)
  assert.equal(answer.body['retryable'], retryable, note)
  assert.ok(String(answer.body['type']).endsWith(`/${problemSlug(code)}`), note)
  assert.equal(answer.headers.get('x-correlation-id'), answer.body['correlation_id'], note)
  if (details) assert.deepEqual(answer.body['details'], details, note)
}

/** API-01, API-02: asserts that the response is the success of the operation and matches its schema. */
export function assertSuccess(answer: Answer, id: OperationId): void {
  assert.equal(answer.status, operations[id].success.status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  const validate = validatorOf(operations[id].success.body as Named<unknown>)
  assert.deepEqual(validate(answer.body), [], id)
}
