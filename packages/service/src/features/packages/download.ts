import { isEarlier } from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { Problem } from '../../kernel/problem.ts'
import type { Cause } from '../audit/audit-event.ts'
import { lockPackage, recordFact } from './move.ts'
import { findPackageOfParty, readContent, type PackageRow } from './store.ts'

/** Who asks for which package's content, and whether the answer will carry all of it. */
export interface Download extends Cause {
  readonly packageId: string
  /** False for HEAD and ranges: they show nothing has been fetched, and move nothing. */
  readonly isWhole: boolean
}

/**
 * O-36: the exact submitted bytes, for the parties. A fetch by the recipient's organization counts as delivery, and
 * is committed before the first byte leaves.
 */
export async function downloadContent(download: Download, db: Database): Promise<Buffer> {
  const { caller, packageId, context, isWhole } = download
  const row = await findPackageOfParty(db, packageId, caller.organizationId)
  if (!row || !mayDownload(row, download)) throw new Problem('resource_not_found')
  if (row.state === 'revoked') throw new Problem('package_revoked')
  const expires = context.profile['O-27'].blocks.includes('download')
  if (expires && !isEarlier(download.now, row.expires_at)) throw new Problem('package_expired')
  const content = await readContent(db, row)
  if (!content) throw new Problem(row.transport_mode === 'native' ? 'package_expired' : 'resource_not_found')
  const isFirstFetch = row.state === 'accepted' || row.state === 'encrypted_available'
  if (isWhole && isFirstFetch && caller.organizationId === row.recipient_org_id)
    await recordDelivery(download, db)
  return content
}

function mayDownload(row: PackageRow, { caller, context }: Download): boolean {
  const parties = { sender: row.sender_org_id, recipient: row.recipient_org_id }
  return context.profile['O-36'].parties.some((party) => parties[party] === caller.organizationId)
}

async function recordDelivery(download: Download, db: Database): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await lockPackage(tx, download.packageId, download.caller.organizationId)
    // Revoked between the look and the lock: the content does not leave.
    if (row.state === 'revoked') throw new Problem('package_revoked')
    const fact = {
      trigger: 'content_fetched',
      kind: 'content_fetched',
      proof: {},
      auditKinds: [],
      agentId: download.caller.agentId ?? row.recipient_agent_id,
    } as const
    if (row.state === 'accepted' || row.state === 'encrypted_available')
      await recordFact(tx, { row, fact, cause: download })
  })
}
