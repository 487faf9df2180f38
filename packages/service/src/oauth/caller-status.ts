import type { Queries } from '../db/database.ts'
import type { Caller } from '../kernel/call.ts'
import { createGroupCommit, type BatchResult } from '../kernel/group-commit.ts'
import { Problem } from '../kernel/problem.ts'

/** Who issues tokens: we, or the outside server that AEX_ISSUER names. */
export type IssuerKind = 'embedded' | 'outside'

/** Passes for a caller who may still act, and is a Problem for any other. */
export type CallerStatus = (caller: Caller) => Promise<void>

const MAXIMUM_ASKED_AT_ONCE = 256
const MAXIMUM_WAITING = 10_000

/**
 * DESIGN section 5: a token that was issued to somebody who has been suspended since is worth nothing. Nothing is
 * remembered from one request to the next; but those that arrive while a question is under way ask the next one
 * together, so each is answered by a look that began after it had arrived.
 */
export function createCallerStatus(db: Queries, issuer: IssuerKind): CallerStatus {
  const questions = createGroupCommit<Caller, void>({
    lanes: 1,
    maximumBatch: MAXIMUM_ASKED_AT_ONCE,
    maximumQueue: MAXIMUM_WAITING,
    commit: (callers) => judge(db, callers, issuer),
  })
  return (caller) => questions.submit(caller)
}

/** Clients of an outside issuer have no row here; for them the organization alone decides. */
async function judge(
  db: Queries,
  callers: readonly Caller[],
  issuer: IssuerKind,
): Promise<BatchResult<void>[]> {
  const asked = [...new Map(callers.map((caller) => [nameOf(caller), caller])).values()]
  const rows = await db<{ name: string }[]>`
    select organization_id || ' ' || asked.client_id as name
    from unnest(${asked.map(({ organizationId }) => organizationId)}::text[],
                ${asked.map(({ clientId }) => clientId)}::text[]) as asked (organization_id, client_id)
      join organization using (organization_id) left join oauth_client using (organization_id, client_id)
    where organization.status = 'active' and (${issuer === 'outside'} or oauth_client.status = 'active')`
  const active = new Set(rows.map(({ name }) => name))
  return callers.map((caller) =>
    active.has(nameOf(caller)) ? { done: undefined } : { failed: new Problem('caller_suspended') },
  )
}

/** An organization's id has no space, so that no two callers share a name. */
function nameOf({ organizationId, clientId }: Caller): string {
  return `${organizationId} ${clientId}`
}
