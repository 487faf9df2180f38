import { LogError, parsePolicy, type PolicyWitness } from '@agent-exchange/log'
import { isLoopback, readNamedFile, SettingError } from '@agent-exchange/server/settings'

/** The other signatures of a checkpoint are those of the log keys, MAXIMUM_LOG_KEYS at most. */
const MAXIMUM_WITNESSES = 32

/** The witnesses of a C2SP tlog-policy file. Each needs a URL, because the exchange asks it for cosignatures. */
export function readWitnessPolicy(path: string): readonly PolicyWitness[] {
  const text = readNamedFile(path)
  try {
    const { witnesses } = parsePolicy(text)
    const silent = witnesses.find(({ url }) => url === undefined || !isSafe(url))
    if (silent)
      throw new SettingError(
        `The witness ${silent.name} in ${path} needs an https URL: an answer can stop the log. Plain http is for loopback.`,
      )
    if (witnesses.length > MAXIMUM_WITNESSES)
      throw new SettingError(
        `The policy ${path} names ${witnesses.length} witnesses; a checkpoint has room for ${MAXIMUM_WITNESSES}.`,
      )
    return witnesses
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new SettingError(`The policy ${path} cannot be used: ${error.message}.`)
  }
}

function isSafe(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/gu, ''))
}
