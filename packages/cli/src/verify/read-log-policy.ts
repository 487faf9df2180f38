import { LogError, parsePolicy, type LogPolicy } from '@agent-exchange/log'
import { CommandFailure } from '../failure.ts'
import { readBounded } from './read-bounded.ts'

/** Largest policy file; the parser has a lower limit of its own. */
const MAXIMUM_POLICY_FILE = 1_048_576

/** A C2SP tlog-policy; undefined where no file was named. */
export async function readLogPolicy(file: string | undefined): Promise<LogPolicy | undefined> {
  if (file === undefined) return undefined
  const read = await readBounded(file, MAXIMUM_POLICY_FILE)
  if ('fault' in read) throw new CommandFailure(`The log policy cannot be used: ${read.fault}`)
  try {
    return parsePolicy(read.bytes)
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new CommandFailure(`The log policy cannot be used: ${error.message}`)
  }
}

/** A policy of packages, such as a policy_envelope, is a JSON object; a policy of logs never is. */
export async function isJsonObject(file: string): Promise<boolean> {
  const read = await readBounded(file, MAXIMUM_POLICY_FILE)
  if ('fault' in read) return false
  try {
    const content: unknown = JSON.parse(new TextDecoder().decode(read.bytes))
    return typeof content === 'object' && content !== null
  } catch {
    return false
  }
}
