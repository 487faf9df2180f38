import type { PackageState } from '@agent-exchange/protocol'
import { fragment, type Fragment, type Queries } from '@agent-exchange/database'
import { startOfIds } from '../../kernel/ids.ts'
import { FACT_COLUMNS, type PackageFacts } from './package-facts.ts'

export interface PackageFilter {
  readonly organizationId?: string | undefined
  readonly agentId?: string | undefined
  readonly state?: PackageState | undefined
  /** The first moment that counts, and the first that does not. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

export interface PackagePage {
  readonly rows: readonly (PackageFacts & { readonly position: string })[]
  /** Where the next page starts, if there may be one. */
  readonly next: string | undefined
}

/** Notifications that one page reads: with a rare state, a page may end before it is full. */
export const MAXIMUM_SCANNED = 2_000

interface PageOrder {
  readonly after: string | undefined
  readonly limit: number
  /** Every package has an event of its acceptance for this party (O-25). */
  readonly party: 'sender' | 'recipient'
}

/**
 * Packages by the notifications of their acceptance, newest first, as long as O-18 keeps notifications. Those are in
 * order of time and, for each organization, of its stream, so the package table needs no index for lists.
 */
export async function listPackages(
  db: Queries,
  filter: PackageFilter,
  { after, limit, party }: PageOrder,
): Promise<PackagePage> {
  const { organizationId, agentId, state } = filter
  const ownNotification =
    organizationId === undefined
      ? fragment`scanned.organization_id = ${PARTY_COLUMNS[party]}`
      : fragment`scanned.organization_id = ${organizationId}`
  const rows = await db.byIndex<Row[]>`
    with scanned as materialized (${scan(filter, after)})
    select extent.*, found.*
    from (
      select count(*) as scanned, min(position)::text as last, min(notification_id) as oldest from scanned) as extent
    left join lateral (
      select scanned.position::text, ${FACT_COLUMNS} from scanned join package using (package_id)
      where event_type = 'package.accepted' and ${ownNotification} ${inTime(filter)}
        ${state === undefined ? fragment`` : fragment`and state = ${state}`}
        ${agentId === undefined ? fragment`` : fragment`and (sender_agent_id = ${agentId} or recipient_agent_id = ${agentId})`}
      order by scanned.position desc limit ${limit + 1}) as found on true`
  const found = rows.flatMap(({ scanned: _scanned, last: _last, oldest: _oldest, ...row }) =>
    row.package_id === null ? [] : [row as PackagePage['rows'][number]],
  )
  const shown = found.slice(0, limit)
  if (found.length > limit) return { rows: shown, next: shown.at(-1)?.position }
  const [extent] = rows
  return { rows: shown, next: extent && mayHaveMore(extent, filter) ? (extent.last ?? undefined) : undefined }
}

/** What the scan read. */
interface Extent {
  readonly scanned: number
  readonly last: string | null
  readonly oldest: string | null
}

type Row = Extent &
  Omit<PackageFacts, 'package_id'> & { readonly package_id: string | null; readonly position: string }

function mayHaveMore({ scanned, oldest }: Extent, { since }: PackageFilter): boolean {
  if (scanned < MAXIMUM_SCANNED) return false
  return since === undefined || (oldest ?? '') >= startOfIds('ntf', since)
}

const PARTY_COLUMNS = {
  sender: fragment`package.sender_org_id`,
  recipient: fragment`package.recipient_org_id`,
} as const satisfies Record<PageOrder['party'], Fragment>

function inTime({ since, until }: PackageFilter): Fragment {
  return fragment`
    ${since === undefined ? fragment`` : fragment`and notification_id >= ${startOfIds('ntf', since)}`}
    ${until === undefined ? fragment`` : fragment`and notification_id < ${startOfIds('ntf', until)}`}`
}

/** The newest notifications: of one organization by its stream, of all by time. An end of the time needs the latter. */
function scan(filter: PackageFilter, after: string | undefined): Fragment {
  const { organizationId, until } = filter
  const columns = fragment`notification_id, organization_id, event_type, package_id`
  // No other condition: rows that a condition removes would not count for the limit.
  if (organizationId !== undefined && until === undefined)
    return fragment`
      select sequence as position, ${columns} from notification
      where organization_id = ${organizationId}
        ${after === undefined ? fragment`` : fragment`and sequence < ${after}::text::bigint`}
      order by sequence desc limit ${MAXIMUM_SCANNED}`
  return fragment`
    select notification_id as position, ${columns} from notification
    where notification_id > '' ${inTime(filter)}
      ${after === undefined ? fragment`` : fragment`and notification_id < ${after}`}
    order by notification_id desc limit ${MAXIMUM_SCANNED}`
}
