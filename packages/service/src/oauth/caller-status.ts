import type { Queries } from '../db/database.ts'
import type { Caller } from '../kernel/call.ts'
import { createBatcher, type BatchResult } from '../kernel/batcher.ts'
import { Problem } from '../kernel/problem.ts'
import type { VerifiedToken } from './token-claims.ts'

/** Who issues tokens: we, or the outside server that AEX_ISSUER names. */
export type IssuerKind = 'embedded' | 'outside'

/** What a verified token says of its caller. */
export type Claimed = Pick<VerifiedToken, 'caller' | 'credentialVersion'>

/** Passes for a caller who may still act, and is a Problem for any other. */
export type CallerStatus = (token: Claimed) => Promise<void>

const MAXIMUM_ASKED_AT_ONCE = 256
const MAXIMUM_WAITING = 10_000

/**
 * DESIGN section 5: a token that was issued to somebody who has been suspended since is worth nothing. Nothing is
 * remembered from one request to the next; but those that arrive while a question is under way ask the next one
 * together, so each is answered by a look that began after it had arrived.
 */
export function createCallerStatus(db: Queries, issuer: IssuerKind): CallerStatus {
  const questions = createBatcher<Claimed, void>({
    concurrency: 1,
    maximumBatch: MAXIMUM_ASKED_AT_ONCE,
    maximumQueue: MAXIMUM_WAITING,
    run: (tokens) => checkCallers(db, tokens, issuer),
  })
  return ({ caller, credentialVersion }) => questions.submit({ caller, credentialVersion })
}

/** Clients of an outside issuer have no row here; for them the organization alone decides. */
async function checkCallers(
  db: Queries,
  tokens: readonly Claimed[],
  issuer: IssuerKind,
): Promise<BatchResult<void>[]> {
  const asked = [...new Map(tokens.map(({ caller }) => [nameOf(caller), caller])).values()]
  const rows = await db.byIndex<{ name: string; version: number | null }[]>`
    select organization_id || ' ' || asked.client_id as name, credential_version as version
    from unnest(${asked.map(({ organizationId }) => organizationId)}::text[],
                ${asked.map(({ clientId }) => clientId)}::text[]) as asked (organization_id, client_id)
      join organization using (organization_id) left join oauth_client using (organization_id, client_id)
    where organization.status = 'active' and (${issuer === 'outside'} or oauth_client.status = 'active')`
  const active = new Map(rows.map(({ name, version }) => [name, version]))
  return tokens.map(({ caller, credentialVersion }) => {
    const version = active.get(nameOf(caller))
    if (version === undefined) return { failed: new Problem('caller_suspended') }
    // A rotation ends every token that was issued to the credential before it.
    if (issuer === 'embedded' && version !== credentialVersion)
      return { failed: new Problem('access_token_invalid', { reason: 'client_rotated' }) }
    return { done: undefined }
  })
}

/** An organization's id has no space, so that no two callers share a name. */
function nameOf({ organizationId, clientId }: Caller): string {
  return `${organizationId} ${clientId}`
}
