import type { Database } from './database.ts'

/** While the server is away, every attempt to connect ends; one new pool in this time is enough. */
const RENEWED_AT_MOST_EVERY_MS = 100
const FORMER_LIMIT_SECONDS = 30

export interface RenewedPool {
  /** For the next statement; never kept. */
  current(): Database
  end(options: { timeout: number }): Promise<void>
}

/**
 * A pool that is replaced when one of its connections ended. The driver may leave such a connection in a state in
 * which it never connects again (a write was scheduled at that moment; porsager/postgres 1133), and would go on
 * handing statements to it. Statements under way on the former pool finish there.
 */
export function createRenewedPool(open: (onEnd: () => void) => Database): RenewedPool {
  let isEnding = false
  let pool = openNext()

  function openNext(): Database {
    let isYoung = true
    let hasLost = false
    const next = open(() => {
      hasLost = true
      if (!isYoung) renew(next)
    })
    setTimeout(() => {
      isYoung = false
      if (hasLost) renew(next)
    }, RENEWED_AT_MOST_EVERY_MS).unref()
    return next
  }

  function renew(former: Database): void {
    if (former !== pool || isEnding) return
    pool = openNext()
    void former.end({ timeout: FORMER_LIMIT_SECONDS })
  }

  return {
    current: () => pool,
    async end(options) {
      isEnding = true
      await pool.end(options)
    },
  }
}
