import {
  deferToCommit,
  fragment,
  type Database,
  type Fragment,
  type Transaction,
} from '@agent-exchange/database'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { SecretBox } from '../stores/secret-box.ts'
import { wrappedColumn } from '../stores/wrapped-rows.ts'
import { recordAccess } from './access-record.ts'
import {
  ModelUseForbidden,
  type ContentRow,
  type ContentStore,
  type ContentSummary,
  type NewContent,
  type Reader,
  type SealedRow,
  type StoredContent,
} from './content-store.ts'
import { MAXIMUM_CONTENT_PAGE, MAXIMUM_PURPOSE_CHARACTERS, MAXIMUM_RETENTION_DAYS } from './content-limits.ts'
import { modelUseOf, type ModelUse } from './received-policies.ts'

const COLUMNS = fragment`package_id, thread_id, direction, content_type, stored_at, retention_until, deleted_at`

export interface ContentDependencies {
  readonly db: Database
  readonly box: SecretBox
  readonly clock: Pick<Clock, 'now'>
}

export function openContentStore({ db, box, clock }: ContentDependencies): ContentStore {
  async function open(
    tx: Transaction,
    reader: Reader,
    agentId: string,
    row: SealedRow,
  ): Promise<StoredContent | 'gone'> {
    const { package_id: packageId, thread_id: threadId, wrapped_key: wrappedKey, sealed } = row
    if (!sealed || !wrappedKey) return 'gone'
    const text = Buffer.from(box.open(contextOf(agentId, packageId), { wrappedKey, sealed })).toString()
    const plaintext = JSON.parse(text) as Plaintext
    const purpose = reader.purpose.slice(0, MAXIMUM_PURPOSE_CHARACTERS)
    const actor = { kind: reader.kind, id: reader.id }
    const entry = { at: clock.now(), agentId, packageId, threadId, action: 'read', actor, purpose } as const
    const asked = modelUse(tx, agentId, row.direction, plaintext)
    deferToCommit(tx, recordAccess(tx, entry), asked)
    const use = await asked
    if (reader.kind === 'model' && use?.allowed_for_runtime_reasoning === false) throw new ModelUseForbidden()
    return { ...toSummary(row), ...plaintext, ...(use && { modelUse: use }) }
  }

  return {
    async put(tx, content) {
      const { agentId, packageId, threadId, direction, object, provenance, retentionUntil, underPolicy } =
        content
      const plaintext = Buffer.from(JSON.stringify({ object, provenance }))
      const { wrappedKey, sealed } = box.seal(contextOf(agentId, packageId), plaintext)
      const { organizationId = null, policyId = null, retentionFrom } = underPolicy ?? {}
      const from = retentionFrom?.toISOString() ?? null
      const ofPolicy = fragment`(
        select ${from}::timestamptz + ${daysOf(fragment`retention_days`)} from received_policy
        where agent_id = ${agentId} and organization_id = ${organizationId} and policy_id = ${policyId})`
      await tx`
        insert into content (agent_id, package_id, thread_id, direction, content_type, stored_at,
          retention_until, wrapped_key, sealed, sender_organization_id, policy_id, retention_from)
        values (${agentId}, ${packageId}, ${threadId}, ${direction}, ${object.object_type}, ${clock.now()},
          least(${retentionUntil?.toISOString() ?? null}::timestamptz, ${ofPolicy}), ${wrappedKey}, ${sealed},
          ${organizationId}, ${policyId}, ${from})
        on conflict (agent_id, package_id) do nothing`
    },

    async read(reader, agentId, packageId) {
      const found = await db.begin(async (tx) => {
        const [row] = await tx<SealedRow[]>`
          select ${COLUMNS}, wrapped_key, sealed from content
          where agent_id = ${agentId} and package_id = ${packageId} for share`
        if (!row) return undefined
        const content = open(tx, reader, agentId, row)
        // A refusal rolls the entry of the access record back.
        if (reader.kind === 'model') await content
        else content.catch(() => undefined)
        return { content }
      })
      return found?.content
    },

    open,

    async list(agentId, { threadId, before, limit }) {
      const inThread = threadId === undefined ? fragment`` : fragment`and thread_id = ${threadId}`
      const isOlder =
        before === undefined
          ? fragment``
          : fragment`and number < (select number from content where agent_id = ${agentId} and package_id = ${before})`
      const rows = await db<ContentRow[]>`
        select ${COLUMNS} from content where agent_id = ${agentId} ${inThread} ${isOlder}
        order by number desc limit ${Math.min(limit, MAXIMUM_CONTENT_PAGE)}`
      return rows.map(toSummary)
    },
  }
}

interface Plaintext {
  readonly object: ProtocolObject
  readonly provenance: Readonly<Record<string, unknown>>
}

/** What the sender permits language models to do. Own content is not restricted. */
async function modelUse(
  tx: Transaction,
  agentId: string,
  direction: NewContent['direction'],
  { object, provenance }: Plaintext,
): Promise<ModelUse | undefined> {
  if (direction === 'sent') return undefined
  const { organization_id = '' } = (provenance['sender'] ?? {}) as { readonly organization_id?: string }
  return modelUseOf(tx, { agentId, organizationId: organization_id, object })
}

const contextOf = (agentId: string, packageId: string) => `content/${agentId}/${packageId}`

function toSummary(row: ContentRow): ContentSummary {
  return {
    packageId: row.package_id,
    threadId: row.thread_id,
    direction: row.direction,
    contentType: row.content_type,
    storedAt: row.stored_at,
    ...(row.retention_until !== null && { retentionUntil: row.retention_until }),
    ...(row.deleted_at !== null && { deletedAt: row.deleted_at }),
  }
}

/** A sender may ask for any number of days. */
const daysOf = (days: Fragment) => fragment`least(${days}, ${MAXIMUM_RETENTION_DAYS}) * interval '24 hours'`

export interface DeletedContent {
  readonly agentId: string
  readonly packageId: string
  readonly threadId: string
}

export interface PolicyRetention {
  readonly agentId: string
  readonly organizationId: string
  readonly policyId: string
  readonly days: number
}

/** Content that was received before its policy ends as the policy says. A longer retention changes nothing. */
export async function shortenRetention(
  tx: Transaction,
  { agentId, organizationId, policyId, days }: PolicyRetention,
): Promise<void> {
  await tx`
    update content set retention_until = least(retention_until, retention_from + ${daysOf(fragment`${days}::double precision`)})
    where agent_id = ${agentId} and sender_organization_id = ${organizationId} and policy_id = ${policyId}
      and deleted_at is null`
}

/** Deletes plaintext and data keys whose retention has ended, except those of held threads. Returns what it deleted. */
export async function deleteDueContent(
  tx: Transaction,
  now: string,
  limit: number,
): Promise<readonly DeletedContent[]> {
  const rows = await tx<(ContentRow & { agent_id: string })[]>`
    update content set wrapped_key = null, sealed = null, deleted_at = ${now}
    where (agent_id, package_id) in (
      select agent_id, package_id from content
      where deleted_at is null and retention_until <= ${now} and not exists (
        select 1 from content_hold
        where content_hold.agent_id = content.agent_id and content_hold.thread_id = content.thread_id)
      order by retention_until limit ${limit} for update skip locked)
    returning agent_id, package_id, thread_id`
  return rows.map((row) => ({
    agentId: row.agent_id,
    packageId: row.package_id,
    threadId: row.thread_id,
  }))
}

/** Opened content under the master key. */
export const wrappedContents = wrappedColumn('content', {
  what: 'opened content',
  column: 'wrapped_key',
  key: ['agent_id', 'package_id'],
  contextOf: ({ agent_id, package_id }) => contextOf(agent_id, package_id),
})
