import assert from 'node:assert/strict'
import { CryptoError } from '@agent-exchange/crypto'
import { PROFILES, type ProfileName } from './profiles/index.ts'
import { Refusal } from './profiles/profile.ts'
import type { Vector } from './vector-file.ts'

/** Throws unless our packages return the result that the vector expects. */
export async function checkVector(profile: ProfileName, vector: Vector): Promise<void> {
  const result = PROFILES[profile](vector.input)
  if (vector.expect === 'valid') {
    assert.deepEqual(await result, vector.output)
    return
  }
  await assert.rejects(result, (error: unknown) => {
    assert.ok(error instanceof CryptoError || error instanceof Refusal, String(error))
    assert.equal(error.code, vector.code)
    if (error instanceof Refusal && error.rule !== undefined) assert.equal(error.rule, vector.rule)
    return true
  })
}

export function isProfileName(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name)
}
