import { LogError, parsePolicy, type PolicyWitness } from '@agent-exchange/log'
import { readNamedFile, SettingError } from './settings-reader.ts'

/** The witnesses of a C2SP tlog-policy file. Each needs a URL, because the exchange asks it for cosignatures. */
export function readWitnessPolicy(path: string): readonly PolicyWitness[] {
  const text = readNamedFile(path)
  try {
    const { witnesses } = parsePolicy(text)
    const silent = witnesses.find(({ url }) => url === undefined || !/^https?:\/\//u.test(url))
    if (silent) throw new SettingError(`The witness ${silent.name} in ${path} needs an http(s) URL.`)
    return witnesses
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new SettingError(`The policy ${path} cannot be used: ${error.message}.`)
  }
}
