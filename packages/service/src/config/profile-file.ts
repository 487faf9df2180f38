import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import { createProfile, type DeploymentProfile } from '@agent-exchange/protocol'
import { readNamedFile, SettingError } from '@agent-exchange/server/settings'

const MAXIMUM_DEPTH = 100

/** The effective profile of an override file. The error lists every invalid value with its JSON pointer. */
export function readProfile(path: string): DeploymentProfile {
  const result = createProfile(readJson(path))
  if (result.ok) return result.profile
  const errors = result.failures.map(({ pointer, message }) => `\n    ${pointer || '(the file)'}  ${message}`)
  throw new SettingError(`The profile ${path} cannot be used:${errors.join('')}`)
}

function readJson(path: string): unknown {
  const text = readNamedFile(path)
  try {
    return parseStrictJson(Buffer.from(text), { maxDepth: MAXIMUM_DEPTH })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new SettingError(`The file ${path} is not usable JSON: ${error.message}.`)
  }
}
