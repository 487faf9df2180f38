import assert from 'node:assert/strict'
import { CryptoError } from '@agent-exchange/crypto'
import { LogError } from '@agent-exchange/log'
import { PROFILES, type ProfileName } from './profiles/index.ts'
import { FailingChecks, Refusal } from './profiles/profile.ts'
import type { Vector } from './vector-file.ts'

/** Throws unless our packages return the result that the vector expects. */
export async function checkVector(profile: ProfileName, vector: Vector): Promise<void> {
  const result = PROFILES[profile](vector.input)
  if (vector.expect === 'valid') {
    assert.deepEqual(await result, vector.output)
    return
  }
  await assert.rejects(result, (error: unknown) => {
    if (error instanceof FailingChecks) {
      assert.deepEqual(error.codes, vector.codes)
      assert.ok(error.codes.includes(vector.code), `${error.message} and not ${vector.code}`)
      return true
    }
    const isKnown = error instanceof CryptoError || error instanceof LogError || error instanceof Refusal
    assert.ok(isKnown, String(error))
    assert.equal(error.code, vector.code)
    if (error instanceof Refusal && error.rule !== undefined) assert.equal(error.rule, vector.rule)
    return true
  })
}

export function isProfileName(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name)
}
