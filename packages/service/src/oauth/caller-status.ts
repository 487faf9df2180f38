import { fragment, type Queries } from '@agent-exchange/database'
import type { Caller } from '../kernel/call.ts'
import { createBatcher, type BatchResult } from '../kernel/batcher.ts'
import { Problem } from '../kernel/problem.ts'
import {
  toWalPosition,
  WAL_POSITION_COLUMNS,
  type WalPosition,
  type WalPositionRow,
} from '../kernel/wal-position.ts'
import type { VerifiedToken } from './token-claims.ts'

/** Who issues tokens: the embedded authorization server, or the external one of AEX_ISSUER. */
export type IssuerKind = 'embedded' | 'external'

/** The claims of a verified token that identify its caller and credential. */
export type CallerToken = Pick<VerifiedToken, 'caller' | 'credentialVersion'>

/**
 * Resolves if the caller is active; throws a Problem otherwise. The position covers every commit that was acknowledged
 * before the call; undefined if nobody needs it.
 */
export type CallerStatus = (token: CallerToken) => Promise<WalPosition | undefined>

const MAXIMUM_BATCH = 256
const MAXIMUM_QUEUE = 10_000

/**
 * Suspension and disabling take effect with the next request, so nothing is cached. Requests that arrive during a query
 * share the next one: each is decided by a query that started after its arrival.
 */
export function createCallerStatus(
  db: Queries,
  issuer: IssuerKind,
  { readsPosition = false }: { readonly readsPosition?: boolean } = {},
): CallerStatus {
  const checks = createBatcher<CallerToken, WalPosition | undefined>({
    concurrency: 1,
    maximumBatch: MAXIMUM_BATCH,
    maximumQueue: MAXIMUM_QUEUE,
    holderOf: ({ caller }) => caller.organizationId,
    run: (tokens) => checkCallers(db, tokens, { issuer, readsPosition }),
  })
  return ({ caller, credentialVersion }) => checks.submit({ caller, credentialVersion })
}

interface StatusRow {
  readonly name: string
  readonly version: number | null
}

/** Clients of an external issuer have no row here; only their organization is checked. */
async function checkCallers(
  db: Queries,
  tokens: readonly CallerToken[],
  { issuer, readsPosition }: { readonly issuer: IssuerKind; readonly readsPosition: boolean },
): Promise<BatchResult<WalPosition | undefined>[]> {
  const callers = [...new Map(tokens.map(({ caller }) => [nameOf(caller), caller])).values()]
  const position = readsPosition ? fragment`, ${WAL_POSITION_COLUMNS}` : fragment``
  const rows = await db.byIndex<(StatusRow & Partial<WalPositionRow>)[]>`
    select organization_id || ' ' || asked.client_id as name, credential_version as version ${position}
    from unnest(${callers.map(({ organizationId }) => organizationId)}::text[],
                ${callers.map(({ clientId }) => clientId)}::text[]) as asked (organization_id, client_id)
      join organization using (organization_id) left join oauth_client using (organization_id, client_id)
    where organization.status = 'active' and (${issuer === 'external'} or oauth_client.status = 'active')`
  const active = new Map(rows.map((row) => [row.name, row]))
  return tokens.map(({ caller, credentialVersion }) => {
    const row = active.get(nameOf(caller))
    if (row === undefined) return { failed: new Problem('caller_suspended') }
    // A rotation invalidates every token issued to an earlier credential.
    if (issuer === 'embedded' && row.version !== credentialVersion)
      return { failed: new Problem('access_token_invalid', { reason: 'client_rotated' }) }
    const { lsn, timeline } = row
    return {
      done: lsn === undefined || timeline === undefined ? undefined : toWalPosition({ lsn, timeline }),
    }
  })
}

/** Unique per caller, because an organization id contains no space. */
function nameOf({ organizationId, clientId }: Caller): string {
  return `${organizationId} ${clientId}`
}
