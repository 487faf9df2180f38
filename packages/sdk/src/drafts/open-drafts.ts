import type { AgentContext } from '../context.ts'
import type { DraftApprovals } from './draft-approvals.ts'
import { draftDigest, draftIdOf, fromDocument, toDocument } from './draft-document.ts'
import { APPROVAL_MAXIMUM_AGE_MS } from './draft-limits.ts'
import type { DraftInput, Drafts, DraftState, StoredDraft } from './draft.ts'
import { ExchangeError } from '../errors.ts'
import { runChecks } from '../send/evaluate-draft.ts'
import { draftOfResponse } from '../send/respond-to-package.ts'
import { sendDraft } from '../send/send-draft.ts'
import type { Draft, SendDependencies } from '../send/send-input.ts'
import { draftOfPackage } from '../send/send-package.ts'
import { validInput } from '../send/valid-input.ts'
import { placeholderWarnings } from '../objects/placeholders.ts'
import { isApprovalRequired } from '../policy/evaluate-policy.ts'
import type { DraftRecord, DraftStore, SentDraftRecord } from './draft-store.ts'

const SHOWN_SENT = 100

export interface DraftsOptions {
  readonly store: DraftStore
  readonly approvals: DraftApprovals
  readonly shared: Pick<SendDependencies, 'outbox' | 'dataSpace'>
  /** How long an approval permits sending. Defaults to 24 hours. */
  readonly approvalMaximumAgeMs?: number
}

/** A draft that was read, in the form that is sealed. */
interface ReadDraft {
  readonly record: DraftRecord
  readonly digest: string
  readonly draft: Draft
}

/** The drafts of an agent, over the store that keeps them. */
export function openDrafts(context: AgentContext, options: DraftsOptions): Drafts {
  const {
    store: drafts,
    approvals,
    shared,
    approvalMaximumAgeMs: maximumAgeMs = APPROVAL_MAXIMUM_AGE_MS,
  } = options

  /** The bytes are read once: what is digested here is what is shown, evaluated and sealed. */
  async function verified(record: DraftRecord): Promise<ReadDraft> {
    const { draft_id: draftId, content } = record
    const digest = await draftDigest(content)
    const { organization_id, agent_id } = content.sender
    const isOwn = organization_id === context.identity.organizationId && agent_id === context.identity.agentId
    if (draftIdOf(digest) !== draftId || !isOwn)
      throw new ExchangeError('draft_altered', { details: { draftId } })
    const found = fromDocument(content)
    const required = found.requireApproval === true || (await approvals.isRequired({ record, digest }))
    const draft = { ...found, ...validInput(context, found), requireApproval: required }
    return { record, digest, draft }
  }

  const read = async (draftId: string) => verified(await drafts.read(draftId))

  const approvalOf = (found: ReadDraft) => approvals.require(found, { now: context.now(), maximumAgeMs })

  async function stateOf(found: ReadDraft): Promise<DraftState> {
    if (!(await approvals.isDecided(found))) return needsApproval(found.draft) ? 'waiting' : 'ready'
    try {
      await approvalOf(found)
      return 'approved'
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error
      return STATES[error.code] ?? 'void'
    }
  }

  async function stored(found: ReadDraft): Promise<StoredDraft> {
    const { record, digest, draft } = found
    const { packageId, threadId, respondsTo, contentType, skill, expiresAt, policy, object } = draft
    return {
      draftId: record.draft_id,
      createdAt: record.created_at,
      digest,
      state: await stateOf(found),
      approvalRequired: needsApproval(draft),
      sender: context.identity,
      recipient: draft.to,
      packageId,
      threadId,
      ...(respondsTo !== undefined && { respondsTo }),
      contentType,
      skill,
      ...(expiresAt !== undefined && { expiresAt }),
      policy,
      object,
      ...(record.decision && { decision: record.decision }),
    }
  }

  /** Drafts that can be read, and ids of those that cannot. */
  async function readAll(): Promise<{ readonly found: ReadDraft[]; readonly damaged: string[] }> {
    const found: ReadDraft[] = []
    const damaged: string[] = []
    for (const draftId of await drafts.ids())
      try {
        found.push(await read(draftId))
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error
        if (DAMAGED.has(error.code)) damaged.push(draftId)
        // Another process sent or discarded it meanwhile.
        else if (error.code !== 'draft_missing' && error.code !== 'draft_sent') throw error
      }
    return { found, damaged }
  }

  /** A new draft of a package in the outbox could be approved, and never sent. */
  async function requireUnsent(draftId: string, { packageId, threadId }: Draft): Promise<void> {
    if ((await drafts.ids()).includes(draftId) || (await drafts.findSent(draftId))) return
    const entry = await shared.outbox.read(packageId)
    if (entry && entry.state !== 'refused')
      throw new ExchangeError('package_sent', { details: { packageId, threadId } })
  }

  return {
    async create(input) {
      const prepared = await prepare(context, input)
      const content = toDocument(context.identity, prepared)
      const draftId = draftIdOf(await draftDigest(content))
      await requireUnsent(draftId, prepared)
      const created_at = context.now().toISOString()
      return stored(await verified(await drafts.add({ draft_id: draftId, created_at, content })))
    },

    async check(input, { signal } = {}) {
      const prepared = await prepare(context, input)
      const { passed, checks } = (await runChecks(context, prepared, signal)).evaluation
      return { passed, checks, warnings: placeholderWarnings(prepared.object) }
    },

    async list() {
      const all = await Promise.all((await readAll()).found.map(stored))
      return all.toSorted((left, right) => compare(left.createdAt, right.createdAt))
    },

    damaged: async () => (await readAll()).damaged,
    get: async (draftId) => stored(await read(draftId)),

    async evaluate(draftId, { signal } = {}) {
      const found = await read(draftId)
      const draft = await stored(found)
      const { evaluation } = await runChecks(context, found.draft, signal)
      const { passed, checks } = evaluation
      const needsPerson = draft.approvalRequired && draft.state !== 'approved'
      return { draft, passed, checks, needsPerson, warnings: placeholderWarnings(draft.object) }
    },

    async send(draftId, how = {}) {
      const found = await read(draftId)
      // A decision binds, also where none was required.
      const isDecided = await approvals.isDecided(found)
      const approve = async () => {
        const { reference, approvedAt } = await approvalOf(found)
        return { approved: true, approvalReference: reference, approvedAt }
      }
      const requireApprovalToo = isDecided || found.draft.requireApproval === true
      const draft = { ...found.draft, requireApproval: requireApprovalToo, approve }
      const sent = await sendDraft(context, draft, { ...shared, ...how })
      await drafts.close(draftId, {
        digest: found.digest,
        package_id: sent.packageId,
        thread_id: sent.threadId,
        sent_at: context.now().toISOString(),
      })
      return sent
    },

    discard: (draftId) => drafts.remove(draftId),
    async findSent(draftId) {
      const file = await drafts.findSent(draftId)
      return file && toSent(file)
    },
    sent: async (limit = SHOWN_SENT) => (await drafts.sent(limit)).map(toSent),
  }
}

/** Some approvals may be there, and more people be needed. */
const STATES: Readonly<Partial<Record<string, DraftState>>> = {
  approval_declined: 'declined',
  approval_waiting: 'waiting',
}

const DAMAGED: ReadonlySet<string> = new Set(['draft_altered', 'draft_unreadable', 'object_invalid'])

function prepare(context: AgentContext, input: DraftInput): Promise<Draft> {
  return input.respondsTo === undefined
    ? draftOfPackage(context, input)
    : draftOfResponse(context, input.respondsTo, input)
}

function needsApproval(draft: Draft): boolean {
  return draft.requireApproval === true || isApprovalRequired(draft)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}

function toSent(file: SentDraftRecord) {
  const { draft_id, created_at, digest, package_id, thread_id, sent_at, decision } = file
  return {
    draftId: draft_id,
    createdAt: created_at,
    digest,
    packageId: package_id,
    threadId: thread_id,
    sentAt: sent_at,
    ...(decision && { decision }),
  }
}
