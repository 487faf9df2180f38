import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'

/**
 * Looks before it makes: what an interrupted call, or a lost answer to this one, has made already is taken up.
 * A creation whose outcome is open is never repeated without looking again.
 */
export async function ensure<T>({
  find,
  create,
  scope,
}: {
  find: () => Promise<T | undefined>
  create: () => Promise<T>
  scope: WaitScope
}): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const found = await find()
    if (found !== undefined) return found
    try {
      return await create()
    } catch (error) {
      const open = error instanceof ConnectorError && error.outcomeUnknown && error.code !== 'aborted'
      if (!open || attempt + 1 >= LIMITS.attempts || !(await scope.backOff(attempt))) throw error
    }
  }
}
