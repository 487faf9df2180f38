import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROBLEM_CHECKS } from '../service/checks/problems.ts'
import { toAnswer } from '../wire/wire.ts'
import { AnswerExaminer } from './examined-answers.ts'
import { Finding, NotJudged } from './finding.ts'

const answerOf = (status: number, body: object) =>
  toAnswer(
    { method: 'GET', url: 'https://exchange.example/v1/audit/threads/thread_1', headers: {} },
    { status, headers: {}, text: JSON.stringify(body), bytes: new Uint8Array() },
  )

test('[PKG-14] a continued run keeps what the first one saw, and accuses nobody without an answer', () => {
  const first = new AnswerExaminer(PROBLEM_CHECKS)
  assert.throws(() => first.conclude('problems/secrecy'), NotJudged)
  first.add(answerOf(200, { note: 'conformance plaintext 7f3a' }))
  const second = new AnswerExaminer(PROBLEM_CHECKS, first.state)
  second.add(answerOf(200, { created_at: '2026-11-18T12:00:00Z' }))
  assert.throws(() => second.conclude('problems/secrecy'), /contained plaintext/u)
  second.conclude('problems/times')
})

test('[OBJ-19] occurred_at of an audit event may have any offset, created_at may not', () => {
  const examiner = new AnswerExaminer(PROBLEM_CHECKS)
  const event = { object_type: 'audit_event', occurred_at: '2026-11-18T14:00:00+02:00' }
  examiner.add(answerOf(200, { entries: [{ ...event, created_at: '2026-11-18T12:00:00Z' }] }))
  examiner.conclude('problems/times')
  examiner.add(answerOf(200, { entries: [{ ...event, created_at: '2026-11-18T14:00:00+02:00' }] }))
  assert.throws(() => examiner.conclude('problems/times'), Finding)
})
