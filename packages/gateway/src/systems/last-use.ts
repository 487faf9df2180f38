import type { Queries } from '@agent-exchange/database'
import { recordUse } from './api-keys.ts'

/** Systems that were seen since the last write. More are simply written at the next use. */
const MAXIMUM_REMEMBERED = 5_000

export interface LastUse {
  note(systemId: string): void
  /** Writes what was noted, in one statement. Called once a minute. */
  write(): Promise<void>
}

/** The last use of each key without a write per request. */
export function rememberLastUse(db: Queries): LastUse {
  let seen = new Set<string>()
  return {
    note(systemId) {
      if (seen.size < MAXIMUM_REMEMBERED) seen.add(systemId)
    },
    async write() {
      const noted = seen
      seen = new Set()
      await recordUse(db, [...noted]).catch((error: unknown) => {
        for (const systemId of noted) seen.add(systemId)
        throw error
      })
    },
  }
}
