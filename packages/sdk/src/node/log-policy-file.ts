import { LogError, parsePolicy, type LogPolicy } from '@agent-exchange/log'
import { ExchangeError } from '../errors.ts'
import { isOpenToOthers, readPrivateFile } from './private-file.ts'

/** The log policy of an agent's folder; undefined if there is none. */
export async function readLogPolicy(file: string): Promise<LogPolicy | undefined> {
  const found = await readPrivateFile(file)
  if (!found) return undefined
  const unreadable = (cause?: unknown) =>
    new ExchangeError('agent_folder_unreadable', {
      what: 'The log policy of the agent cannot be read, or other users can write it.',
      details: { file },
      cause,
    })
  if (isOpenToOthers(found.mode, 'write')) throw unreadable()
  try {
    return parsePolicy(found.text)
  } catch (cause) {
    if (cause instanceof LogError) throw unreadable(cause)
    throw cause
  }
}
