import type { Logger } from 'pino'
import type { Clock } from '@agent-exchange/server/clock'
import type { Config } from '../config/index.ts'
import type { PreparedSchema } from '../features/upgrades/prepare-schema.ts'
import type { Storage } from './open-storage.ts'

/** What every part of a process stands on. */
export interface Base extends Omit<Storage, 'failed'> {
  readonly config: Config & { readonly masterKey: Uint8Array }
  readonly clock: Clock
  readonly log: Logger
  readonly schema: PreparedSchema
  /** Each part that has to be stopped is in it; they stop in the opposite order. */
  readonly cleanup: AsyncDisposableStack
}
