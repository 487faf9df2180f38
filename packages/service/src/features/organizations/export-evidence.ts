import type { Database } from '@agent-exchange/database'
import { getPackageAuditEvidence } from '../audit/package-evidence.ts'
import type { ExportPage, ExportRequest } from './export-page.ts'

/** Packages of the whole exchange that one request looks through: there is no index by organization. */
const SCANNED_PACKAGES = 5_000
const PAGE_RECORDS = 20

/** Position: the last package that is complete, and the cursor inside the next one. */
type Position = readonly [packageId: string, cursor?: string]

/**
 * Evidence of every package that the organization sent or received, as the organization itself reads it: metadata, policy
 * receipt, audit entries, receipts, delivery attempts and key history.
 */
export async function exportEvidence(request: ExportRequest): Promise<ExportPage> {
  const { db, organizationId, after } = request
  const [start, cursor] = after === undefined ? ([''] as const) : (JSON.parse(after) as Position)
  const { own, last } = await ownPackages(db, organizationId, start)
  const records: object[] = []
  let inside = cursor
  for (const [index, packageId] of own.entries()) {
    for (;;) {
      if (records.length >= PAGE_RECORDS) {
        const done = index === 0 ? start : (own[index - 1] ?? start)
        return { records, next: positionText([done, inside]) }
      }
      const evidence = await evidenceOf(request, packageId, inside)
      records.push(evidence)
      inside = evidence.next_cursor ?? undefined
      if (inside === undefined) break
    }
  }
  return { records, next: last === undefined ? undefined : positionText([last]) }
}

function positionText([packageId, cursor]:
  | readonly [string, string | undefined]
  | readonly [string]): string {
  return JSON.stringify(cursor === undefined ? [packageId] : [packageId, cursor])
}

/** In order of their ids, and the last id that was looked at; undefined at the end of the table. */
async function ownPackages(db: Database, organizationId: string, after: string) {
  const [row] = await db.byIndex<{ own: string[] | null; last: string | null; scanned: number }[]>`
    select array_agg(package_id order by package_id)
        filter (where sender_org_id = ${organizationId} or recipient_org_id = ${organizationId}) as own,
      max(package_id) as last, count(*) as scanned
    from (
      select package_id, sender_org_id, recipient_org_id from package
      where package_id > ${after} order by package_id limit ${SCANNED_PACKAGES}) as scan`
  const isLast = (row?.scanned ?? 0) < SCANNED_PACKAGES
  return { own: row?.own ?? [], last: isLast ? undefined : (row?.last ?? undefined) }
}

function evidenceOf({ db, organizationId, context, now }: ExportRequest, packageId: string, after?: string) {
  const caller = { organizationId, agentId: undefined, clientId: '' }
  return getPackageAuditEvidence(
    {
      caller,
      params: { package_id: packageId },
      query: after === undefined ? {} : { after },
      body: undefined,
      text: '',
      correlationId: '',
      idempotencyKey: '',
      now,
      context,
    },
    db,
  )
}
