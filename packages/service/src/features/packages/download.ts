import { isEarlier } from '@agent-exchange/protocol'
import { type Database, inTransaction, type Transaction } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import type { Cause } from '../audit/audit-event.ts'
import { lockPackage, recordTransition } from './record-transitions.ts'
import { readContent } from './content-store.ts'
import { findPackageOfParty, type PackageRow } from './store.ts'

/** A request for the content of a package. */
export interface Download extends Cause {
  readonly packageId: string
  /** False for HEAD, which sends no content and moves nothing. */
  readonly isFetch: boolean
}

/**
 * O-36: the exact submitted bytes, for the parties. A fetch by the recipient's organization counts as delivery. The first
 * fetch of each of its clients is evidence, committed before the first byte is sent.
 */
export async function downloadContent(download: Download, db: Database): Promise<Buffer> {
  const { caller, packageId, context } = download
  const row = await findPackageOfParty(db, packageId, caller.organizationId)
  const party = row && partyOf(row, download)
  if (!row || !party) throw new Problem('resource_not_found')
  if (row.state === 'revoked') throw new Problem('package_revoked')
  const expires = context.profile['O-27'].blocks.includes('download')
  if (expires && !isEarlier(download.now, row.expires_at)) throw new Problem('package_expired')
  const content = await readContent(db, row)
  if (!content) throw new Problem(row.transport_mode === 'native' ? 'package_expired' : 'resource_not_found')
  if (download.isFetch && party === 'recipient') await recordFetch(download, db)
  return content
}

/** The party that the caller acts as. A client of one agent downloads only what that agent sent or was sent. */
function partyOf(row: PackageRow, { caller, context }: Download): 'recipient' | 'sender' | undefined {
  const { parties, agent_clients } = context.profile['O-36']
  const isOwn = (agentId: string) =>
    caller.agentId === undefined || caller.agentId === agentId || agent_clients === 'organization'
  const may = {
    recipient: row.recipient_org_id === caller.organizationId && isOwn(row.recipient_agent_id),
    sender: row.sender_org_id === caller.organizationId && isOwn(row.sender_agent_id),
  }
  // Within one organization a caller may be both: it counts as the recipient, so that its fetch is evidence.
  return (['recipient', 'sender'] as const).find((party) => may[party] && parties.includes(party))
}

async function recordFetch(download: Download, db: Database): Promise<void> {
  const { packageId, caller } = download
  const [known] = await db`
    select from content_fetch where package_id = ${packageId} and client_id = ${caller.clientId}`
  if (known) return
  await inTransaction(db, async (tx) => {
    const row = await lockPackage(tx, packageId, caller.organizationId)
    // Revoked between the read and the lock: the content is not sent.
    if (row.state === 'revoked') throw new Problem('package_revoked')
    if (!(await isFirstOfClient(tx, download))) return
    const transition = {
      trigger: 'content_fetched',
      kind: 'content_fetched',
      proof: {
        organization_id: caller.organizationId,
        client_id: caller.clientId,
        ...(caller.agentId !== undefined && { agent_id: caller.agentId }),
      },
      auditKinds: [],
      agentId: caller.agentId,
    } as const
    await recordTransition(tx, { row, transition, cause: download })
  })
}

async function isFirstOfClient(tx: Transaction, { packageId, caller }: Download): Promise<boolean> {
  const { count } = await tx`
    insert into content_fetch (package_id, client_id) values (${packageId}, ${caller.clientId})
    on conflict do nothing`
  return count > 0
}
