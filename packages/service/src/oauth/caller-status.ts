import type { Queries } from '../db/database.ts'
import type { Caller } from '../kernel/call.ts'
import { createBatcher, type BatchResult } from '../kernel/batcher.ts'
import { Problem } from '../kernel/problem.ts'
import type { VerifiedToken } from './token-claims.ts'

/** Who issues tokens: the embedded authorization server, or the external one of AEX_ISSUER. */
export type IssuerKind = 'embedded' | 'external'

/** The claims of a verified token that identify its caller and credential. */
export type CallerToken = Pick<VerifiedToken, 'caller' | 'credentialVersion'>

/** Resolves if the caller is active; throws a Problem otherwise. */
export type CallerStatus = (token: CallerToken) => Promise<void>

const MAXIMUM_BATCH = 256
const MAXIMUM_QUEUE = 10_000

/**
 * Suspension and disabling take effect with the next request, so nothing is cached. Requests that arrive during a query
 * share the next one: each is decided by a query that started after its arrival.
 */
export function createCallerStatus(db: Queries, issuer: IssuerKind): CallerStatus {
  const checks = createBatcher<CallerToken, void>({
    concurrency: 1,
    maximumBatch: MAXIMUM_BATCH,
    maximumQueue: MAXIMUM_QUEUE,
    run: (tokens) => checkCallers(db, tokens, issuer),
  })
  return ({ caller, credentialVersion }) => checks.submit({ caller, credentialVersion })
}

/** Clients of an external issuer have no row here; only their organization is checked. */
async function checkCallers(
  db: Queries,
  tokens: readonly CallerToken[],
  issuer: IssuerKind,
): Promise<BatchResult<void>[]> {
  const callers = [...new Map(tokens.map(({ caller }) => [nameOf(caller), caller])).values()]
  const rows = await db.byIndex<{ name: string; version: number | null }[]>`
    select organization_id || ' ' || asked.client_id as name, credential_version as version
    from unnest(${callers.map(({ organizationId }) => organizationId)}::text[],
                ${callers.map(({ clientId }) => clientId)}::text[]) as asked (organization_id, client_id)
      join organization using (organization_id) left join oauth_client using (organization_id, client_id)
    where organization.status = 'active' and (${issuer === 'external'} or oauth_client.status = 'active')`
  const active = new Map(rows.map(({ name, version }) => [name, version]))
  return tokens.map(({ caller, credentialVersion }) => {
    const version = active.get(nameOf(caller))
    if (version === undefined) return { failed: new Problem('caller_suspended') }
    // A rotation invalidates every token issued to an earlier credential.
    if (issuer === 'embedded' && version !== credentialVersion)
      return { failed: new Problem('access_token_invalid', { reason: 'client_rotated' }) }
    return { done: undefined }
  })
}

/** Unique per caller, because an organization id contains no space. */
function nameOf({ organizationId, clientId }: Caller): string {
  return `${organizationId} ${clientId}`
}
