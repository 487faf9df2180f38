import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'

/**
 * Finds or creates: reuses what an interrupted call, or a call with a lost response, created. A creation with an
 * unknown outcome is never repeated before looking again.
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
