import {
  LogError,
  type LogPolicy,
  type OpenedCheckpoint,
  openCheckpoint,
  type TileName,
  tilePath,
} from '@agent-exchange/log'
import { Finding } from '../run/finding.ts'
import { holds } from '../run/expect.ts'
import type { ReadLog } from './read-log.ts'

/** What a check of a log works with. */
export interface LogContext {
  readonly read: ReadLog
  /** Whose signatures count. The first checkpoint that was read, and one of an earlier run if there is one. */
  readonly policy: LogPolicy
  readonly first: string
  readonly earlier?: string
  /** Up to `count` numbers below `limit`: all of them if they are few, else the first, the last and some that the seed chooses. */
  readonly sample: (limit: number, count: number) => number[]
  /** Waits until the log may have published more. False once it waited long enough. */
  readonly waitForGrowth: () => Promise<boolean>
}

export async function readCheckpoint({ read }: Pick<LogContext, 'read'>): Promise<string> {
  const { status, bytes } = await read('checkpoint')
  holds(status === 200, `the checkpoint answered ${status}`)
  return new TextDecoder().decode(bytes)
}

export async function opened(
  note: string,
  { policy }: Pick<LogContext, 'policy'>,
): Promise<OpenedCheckpoint> {
  const keys = [...policy.logs, ...policy.witnesses].map(({ key }) => key)
  return await judged('the checkpoint', () => openCheckpoint(note, keys))
}

/** The bytes of a tile that the tree has. */
export async function readTile({ read }: Pick<LogContext, 'read'>, name: TileName): Promise<Uint8Array> {
  const path = tilePath(name)
  const { status, bytes } = await read(path)
  holds(status === 200, `${path} answered ${status}`)
  return bytes
}

/** Whatever the log package refuses is a finding about the log. */
export async function judged<T>(what: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof LogError) throw new Finding(`${what}: ${error.message}`)
    throw error
  }
}
