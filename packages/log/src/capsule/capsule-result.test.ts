import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMUM_FAULTS, VerdictReached } from '../evidence/evidence-report.ts'
import { CapsuleFindings } from './capsule-result.ts'

test('a verification ends with a bounded number of contradictions: a hostile file causes no more work', () => {
  const findings = new CapsuleFindings()
  const contradict = () => findings.contradict('evidence_broken', 'an entry')
  for (let index = 1; index < MAXIMUM_FAULTS; index++) contradict()
  assert.throws(contradict, VerdictReached)
  assert.equal(findings.contradictions.length, MAXIMUM_FAULTS)
})
