import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import { createProfile, type DeploymentProfile } from '@agent-exchange/protocol'
import { readNamedFile, Refusal } from './settings-reader.ts'

const DEEPEST = 100

/** The effective profile of an override file; every fault in it is named with its place. */
export function readProfile(path: string): DeploymentProfile {
  const result = createProfile(readJson(path))
  if (result.ok) return result.profile
  const faults = result.failures.map(({ pointer, message }) => `\n    ${pointer || '(the file)'}  ${message}`)
  throw new Refusal(`The profile ${path} cannot be used:${faults.join('')}`)
}

function readJson(path: string): unknown {
  const text = readNamedFile(path)
  try {
    return parseStrictJson(Buffer.from(text), { maxDepth: DEEPEST })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new Refusal(`The file ${path} is not usable JSON: ${error.message}.`)
  }
}
