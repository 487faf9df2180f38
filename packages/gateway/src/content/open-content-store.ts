import { deferToCommit, fragment, type Database, type Transaction } from '@agent-exchange/database'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { SecretBox } from '../stores/secret-box.ts'
import { wrappedColumn } from '../stores/wrapped-rows.ts'
import { recordAccess } from './access-record.ts'
import {
  ModelUseForbidden,
  type ContentStore,
  type ContentSummary,
  type NewContent,
} from './content-store.ts'
import { MAXIMUM_CONTENT_PAGE, MAXIMUM_PURPOSE_CHARACTERS, MAXIMUM_RETENTION_DAYS } from './content-limits.ts'
import { modelUseOf, type ModelUse } from './received-policies.ts'

interface ContentRow {
  readonly package_id: string
  readonly thread_id: string
  readonly direction: NewContent['direction']
  readonly content_type: string
  readonly stored_at: string
  readonly retention_until: string | null
  readonly deleted_at: string | null
}

interface SealedRow extends ContentRow {
  readonly wrapped_key: Uint8Array | null
  readonly sealed: Uint8Array | null
}

const COLUMNS = fragment`package_id, thread_id, direction, content_type, stored_at, retention_until, deleted_at`

export interface ContentDependencies {
  readonly db: Database
  readonly box: SecretBox
  readonly clock: Pick<Clock, 'now'>
}

export function openContentStore({ db, box, clock }: ContentDependencies): ContentStore {
  return {
    async put(tx, content) {
      const { agentId, packageId, threadId, direction, object, provenance, retentionUntil, underPolicy } =
        content
      const plaintext = Buffer.from(JSON.stringify({ object, provenance }))
      const { wrappedKey, sealed } = box.seal(contextOf(agentId, packageId), plaintext)
      await tx`
        insert into content (agent_id, package_id, thread_id, direction, content_type, stored_at,
          retention_until, wrapped_key, sealed, sender_organization_id, policy_id, retention_from)
        values (${agentId}, ${packageId}, ${threadId}, ${direction}, ${object.object_type}, ${clock.now()},
          ${retentionUntil?.toISOString() ?? null}, ${wrappedKey}, ${sealed}, ${underPolicy?.organizationId ?? null},
          ${underPolicy?.policyId ?? null}, ${underPolicy?.retentionFrom.toISOString() ?? null})
        on conflict (agent_id, package_id) do nothing`
    },

    async read(reader, agentId, packageId) {
      const found = await db.begin(async (tx) => {
        const [row] = await tx<SealedRow[]>`
          select ${COLUMNS}, wrapped_key, sealed from content
          where agent_id = ${agentId} and package_id = ${packageId} for share`
        if (!row) return undefined
        if (!row.sealed || !row.wrapped_key) return 'gone'
        const entry = recordAccess(tx, {
          at: clock.now(),
          agentId,
          packageId,
          threadId: row.thread_id,
          action: 'read',
          actor: { kind: reader.kind, id: reader.id },
          purpose: reader.purpose.slice(0, MAXIMUM_PURPOSE_CHARACTERS),
        })
        deferToCommit(tx, entry)
        const stored = { wrappedKey: row.wrapped_key, sealed: row.sealed }
        const text = Buffer.from(box.open(contextOf(agentId, packageId), stored)).toString()
        const plaintext = JSON.parse(text) as Plaintext
        const use = modelUse(tx, agentId, row.direction, plaintext)
        deferToCommit(tx, use)
        // It also rolls the entry of the access record back.
        if (reader.kind === 'model' && (await use)?.allowed_for_runtime_reasoning === false)
          throw new ModelUseForbidden()
        return { row, plaintext, use }
      })
      if (found === undefined || found === 'gone') return found
      const use = await found.use
      return { ...toSummary(found.row), ...found.plaintext, ...(use && { modelUse: use }) }
    },

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
    update content set retention_until = least(retention_until,
      retention_from + ${Math.min(days, MAXIMUM_RETENTION_DAYS)}::double precision * interval '24 hours')
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
