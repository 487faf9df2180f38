import type { DeploymentProfile } from '@agent-exchange/protocol'
import { fragment, type Fragment, type Queries, type Transaction } from '@agent-exchange/database'
import type { AcceptsFrom, DailyQuotas } from './organization-store.ts'

/** The owner of the table sender_rule. It reads the columns of organization about consent (O-50) and quotas of a day (O-13). */

export type SenderRule = 'accept' | 'block'

/** In the columns of quotas. */
export const NO_LIMIT = -1

export interface ConsentRow extends DailyQuotas {
  /** Null, as in the quotas: the default of the deployment profile. */
  readonly accepts_from: AcceptsFrom | null
  /** Lengths of its two lists. */
  readonly accepted: number
  readonly blocked: number
}

export async function findConsent(db: Queries, organizationId: string): Promise<ConsentRow | undefined> {
  const [row] = await db<ConsentRow[]>`
    select accepts_from, packages_per_day, threads_per_day,
      (select count(*) from sender_rule where sender_rule.organization_id = organization.organization_id
        and rule = 'accept') as accepted,
      (select count(*) from sender_rule where sender_rule.organization_id = organization.organization_id
        and rule = 'block') as blocked
    from organization where organization_id = ${organizationId}`
  return row
}

/** Each sender is on one list: a new rule replaces the former one. */
export async function putSenderRules(
  tx: Transaction,
  {
    organizationId,
    senders,
    rule,
    now,
  }: {
    readonly organizationId: string
    readonly senders: readonly string[]
    readonly rule: SenderRule
    readonly now: string
  },
): Promise<void> {
  await tx`
    insert into sender_rule (organization_id, sender_org_id, rule, changed_at)
    select ${organizationId}, sender, ${rule}, ${now}::timestamptz from unnest(${[...new Set(senders)]}::text[]) as sender
    on conflict (organization_id, sender_org_id) do update set rule = excluded.rule, changed_at = excluded.changed_at
    where sender_rule.rule <> excluded.rule`
}

export async function removeSenderRules(
  tx: Transaction,
  organizationId: string,
  senders: readonly string[],
): Promise<void> {
  await tx`
    delete from sender_rule
    where organization_id = ${organizationId} and sender_org_id = any(${[...senders]})`
}

/** Of its own lists; those of others may go on naming it. At most `limit`. @returns the number of rows */
export async function removeSenderRulesOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from sender_rule where organization_id = ${organizationId} and sender_org_id in (
      select sender_org_id from sender_rule where organization_id = ${organizationId} limit ${limit})`
  return count
}

/** With the name of the sender, by its id. */
export async function listSenderRules(
  db: Queries,
  {
    organizationId,
    rule,
    after,
    limit,
  }: {
    readonly organizationId: string
    readonly rule: SenderRule | undefined
    readonly after: string | undefined
    readonly limit: number
  },
): Promise<{ sender_org_id: string; name: string; rule: SenderRule; changed_at: string }[]> {
  return db<{ sender_org_id: string; name: string; rule: SenderRule; changed_at: string }[]>`
    select sender_org_id, name, rule, changed_at
    from sender_rule join organization on organization.organization_id = sender_org_id
    where sender_rule.organization_id = ${organizationId} and sender_org_id > ${after ?? ''}
      ${rule === undefined ? fragment`` : fragment`and rule = ${rule}`}
    order by sender_org_id limit ${limit}`
}

/** A package on its way from one organization to another. */
export interface Sending {
  readonly senderId: string
  readonly recipientId: string
}

export const sendingName = ({ senderId, recipientId }: Sending) => `${senderId} ${recipientId}`

/**
 * What the recipients say about the senders, by `sendingName`. The same statement locks the senders that have a quota of
 * a day until the end of the transaction, after threads and before counter rows: counters that a later statement reads
 * are then exact. Usually there are neither rules nor quotas, and it finds two empty indexes.
 *
 * `offset 0` keeps the lookup by primary key: planned while the table is empty, a join would read all of it.
 */
export async function readSenderRules(
  tx: Transaction,
  sendings: readonly Sending[],
  profile: DeploymentProfile,
): Promise<Map<string, SenderRule>> {
  if (sendings.length === 0) return new Map()
  const pairs = [...new Map(sendings.map((each) => [sendingName(each), each])).values()]
  const senders = [...new Set(sendings.map(({ senderId }) => senderId))]
  const rows = await tx.byIndex<
    { sender_org_id: string; organization_id: string; rule: SenderRule | 'locked' }[]
  >`
    with limited as materialized (
      select organization_id from organization
      where organization_id = any(${senders}) and (${hasQuota(profile)}) order by organization_id
    ), locked as materialized (
      select organization_id, pg_advisory_xact_lock(${quotaLock(fragment`organization_id`)}) from limited)
    select pair.sender_org_id, pair.organization_id, found.rule
    from unnest(${pairs.map(({ senderId }) => senderId)}::text[], ${pairs.map(({ recipientId }) => recipientId)}::text[])
      as pair (sender_org_id, organization_id)
    cross join lateral (
      select rule from sender_rule
      where sender_rule.organization_id = pair.organization_id and sender_rule.sender_org_id = pair.sender_org_id
      offset 0) as found
    union all select organization_id, organization_id, 'locked' from locked`
  return new Map(
    rows.flatMap(({ sender_org_id: senderId, organization_id: recipientId, rule }) =>
      rule === 'locked' ? [] : [[sendingName({ senderId, recipientId }), rule]],
    ),
  )
}

/** Without quotas in the profile, the condition of a partial index that holds only limited organizations. */
function hasQuota(profile: DeploymentProfile): Fragment {
  const { packages_per_day, threads_per_day } = profile['O-13']
  if (packages_per_day === null && threads_per_day === null)
    return fragment`packages_per_day > -1 or threads_per_day > -1`
  return fragment`coalesce(packages_per_day, ${packages_per_day ?? NO_LIMIT}) > ${NO_LIMIT}
    or coalesce(threads_per_day, ${threads_per_day ?? NO_LIMIT}) > ${NO_LIMIT}`
}

/** The number of the advisory lock of a sender, computed where it is needed: usually nowhere. */
const quotaLock = (organizationId: string | Fragment): Fragment =>
  fragment`hashtextextended('quota of a day ' || ${organizationId}, 0)`
