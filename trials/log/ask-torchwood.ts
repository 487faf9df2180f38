import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { Judges } from './go-judges.ts'

const LIMIT_MS = 60_000

/** A tlog-proof of a leaf, or a signed checkpoint if there is no leaf. */
export interface Question {
  readonly leaf?: Uint8Array
  readonly text: string
}

/** torchwood's verdict on each question: `accepted`, or `refused` with its reason. */
export function askTorchwood(judges: Judges, policyFile: string, questions: readonly Question[]): string[] {
  const input = questions.map(({ leaf, text }) =>
    JSON.stringify({ ...(leaf && { leaf: Buffer.from(leaf).toString('base64') }), text }),
  )
  const { status, stdout, stderr } = spawnSync(judges['tlog-verify'], [policyFile], {
    input: input.join('\n'),
    encoding: 'utf8',
    maxBuffer: 100_000_000,
    timeout: LIMIT_MS,
  })
  assert.equal(status, 0, stderr)
  const verdicts = stdout.trimEnd().split('\n')
  assert.equal(verdicts.length, questions.length)
  return verdicts
}

export function requireAccepted(judges: Judges, policyFile: string, questions: readonly Question[]): void {
  const refused = askTorchwood(judges, policyFile, questions).filter((verdict) => verdict !== 'accepted')
  assert.deepEqual(refused, [])
}
