import type { Database } from '@agent-exchange/database'
import type { McpAgent, WaitingEvent } from '@agent-exchange/mcp'
import {
  NOTICE,
  requireShowable,
  ToolRefusal,
  withBoundaries,
  type ShownPackage,
} from '@agent-exchange/mcp/content'
import { ExchangeError } from '@agent-exchange/sdk'
import { readAddressBook } from '../agents/address-book.ts'
import type { HostedAgent } from '../agents/hosted-agent.ts'
import { sendStoredDraft } from '../agents/send-stored-draft.ts'
import { capsuleOfOwn, readAnswerable, revokeOwn, threadOfOwn } from '../agents/own-packages.ts'
import { authorOf } from '../approvals/draft-authors.ts'
import { recordAccess } from '../content/access-record.ts'
import { ModelUseForbidden, type ContentStore, type StoredContent } from '../content/content-store.ts'
import { threadsOfContents } from '../content/threads-of-contents.ts'
import type { InboxItem } from '../inbox/inbox-item.ts'
import { finishWaiting, listWaiting } from '../inbox/inbox-items.ts'
import { listPolicies } from '../policies/agent-policies.ts'
import { GatewayProblem } from '../problems.ts'
import { programDrafts, requireProgramDraft } from '../systems/program-drafts.ts'
import type { Caller } from '../systems/verbs.ts'

export interface ModelDependencies {
  readonly db: Database
  readonly contents: ContentStore
  readonly now: () => Date
  /** Where people reach the desk. */
  readonly publicUrl: string
}

/** An agent of the gateway for the tools of a model. Every content that the model gets is in the access record. */
export function hostedMcpAgent(
  hosted: HostedAgent,
  model: Caller,
  { db, contents, now, publicUrl }: ModelDependencies,
): McpAgent {
  const { agentId, agent, drafts } = hosted
  const { id: modelId } = model
  return {
    identity: agent.identity,
    context: agent.context,
    fingerprint: () => agent.fingerprint(),
    thread: (threadId, options) => threadForModel(hosted, threadId, options),
    revoke: (packageId, reason) => asUnknown(revokeOwn(hosted, packageId, reason)),
    capsule: (subject, options) => asUnknown(capsuleOfOwn(hosted, subject, options)),
    answerable: (packageId, options) => asUnknown(readAnswerable(hosted, packageId, options)),
    drafts: {
      async create(input) {
        const creating = hosted.draftsBy(authorOf(model)).create(input)
        return asRefusal(
          creating,
          ({ message }) => `${message}. Send drafts, or discard those that are not needed.`,
        )
      },
      async get(draftId) {
        await requireProgramDraft(db, agentId, draftId)
        return drafts.get(draftId)
      },
      async list() {
        const found = await drafts.list()
        const own = await programDrafts(
          db,
          agentId,
          found.map(({ draftId }) => draftId),
        )
        return found.filter(({ draftId }) => own.has(draftId))
      },
      async damaged() {
        const found = await drafts.damaged()
        const own = await programDrafts(db, agentId, found)
        return found.filter((draftId) => own.has(draftId))
      },
      async findSent(draftId) {
        await requireProgramDraft(db, agentId, draftId)
        return drafts.findSent(draftId)
      },
      async discard(draftId) {
        await requireProgramDraft(db, agentId, draftId)
        await drafts.discard(draftId)
      },
      async evaluate(draftId, options) {
        await requireProgramDraft(db, agentId, draftId)
        const evaluated = await drafts.evaluate(draftId, options)
        const { packageId, threadId } = evaluated.draft
        await db.begin((tx) =>
          recordAccess(tx, {
            at: now().toISOString(),
            agentId,
            threadId,
            packageId,
            action: 'read',
            actor: { kind: 'model', id: modelId },
            purpose: 'check_draft',
          }),
        )
        return evaluated
      },
      async send(draftId, options) {
        await requireProgramDraft(db, agentId, draftId)
        return asRefusal(
          sendStoredDraft(db, hosted, await drafts.get(draftId), options),
          ({ details, message }) => (typeof details['reason'] === 'string' ? details['reason'] : message),
        )
      },
    },
    policies: () => listPolicies(db, agentId),
    async waitingEvents(limit) {
      const { items, waiting } = await listWaiting(db, agentId, limit)
      return { events: items.map(shownItem), waiting }
    },
    finishEvent: (itemId) => finishWaiting(db, agentId, itemId),
    async threads(limit) {
      const { threads } = await threadsOfContents(contents, agentId, { limit })
      return threads.map(({ threadId, packages, lastPackageAt, lastPackageId }) => ({
        thread_id: threadId,
        packages,
        last_event_at: lastPackageAt,
        last_package_id: lastPackageId,
      }))
    },
    async read(packageId) {
      const reader = { kind: 'model', id: modelId, purpose: 'read_package' } as const
      const content = await contents.read(reader, agentId, packageId).catch((error: unknown) => {
        if (!(error instanceof ModelUseForbidden)) throw error
        throw new ToolRefusal(
          'model_use_forbidden',
          'The policy of its sender does not let a language model read this package. A person can read it at the desk.',
        )
      })
      if (content === undefined)
        throw new ToolRefusal('package_missing', 'This agent has no such package. Call list_inbox first.')
      if (content === 'gone')
        throw new ToolRefusal(
          'content_gone',
          'The content was deleted, because its retention has ended. verify_capsule still proves the package.',
        )
      return shownContent(content, hosted, await agent.fingerprint())
    },
    deskPage: (draftId) => Promise.resolve(`${publicUrl}/drafts/${draftId}`),
    addressBook: () => readAddressBook(db),
  }
}

async function* threadForModel(...given: Parameters<typeof threadOfOwn>) {
  try {
    yield* threadOfOwn(...given)
  } catch (error) {
    throw unknownOr(error)
  }
}

const asUnknown = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw unknownOr(error)
  })

/** A package of another agent and an unknown one answer alike. */
function unknownOr(error: unknown): unknown {
  if (!(error instanceof ExchangeError)) return error
  const isUnknown = error.code === 'package_not_for_us' || error.problem?.status === 404
  return isUnknown
    ? new ToolRefusal('package_missing', 'This agent has no such package or thread. Call list_inbox first.')
    : error
}

/** The notification that announced the package, which the gateway has opened since. */
function shownItem({ itemId, sequence, receivedAt, packageId, threadId }: InboxItem): WaitingEvent {
  return {
    event_id: itemId,
    sequence,
    event_type: 'package.accepted',
    occurred_at: receivedAt,
    package_id: packageId,
    thread_id: threadId,
    state: 'accepted',
  }
}

interface Party {
  readonly organization_id: string
  readonly agent_id: string
}

/** A problem of the gateway with a sentence that tells the model what to do. */
async function asRefusal<T>(work: Promise<T>, sentenceOf: (problem: GatewayProblem) => string): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof GatewayProblem ? new ToolRefusal(error.code, sentenceOf(error)) : error
  }
}

/** What the gateway noted when it opened or sent the package. */
interface Noted {
  readonly sender?: Party
  readonly written_by?: Party
  readonly signed_by_key?: string
  readonly signing_key_fingerprint?: string
  readonly accepted_at?: string
  readonly responds_to?: string
  readonly receipts_sent?: string[]
}

function shownContent(content: StoredContent, { agent }: HostedAgent, ownFingerprint: string): ShownPackage {
  const { packageId, threadId, direction, object, storedAt, provenance, modelUse } = content
  requireShowable(object)
  const noted: Noted = provenance
  const { organizationId, agentId } = agent.identity
  const from = noted.sender ?? { organization_id: organizationId, agent_id: agentId }
  const { written_by: writer = from } = noted
  const isSame = writer.organization_id === from.organization_id && writer.agent_id === from.agent_id
  const fingerprint = direction === 'sent' ? ownFingerprint : (noted.signing_key_fingerprint ?? '')
  const { boundaries } = withBoundaries(object)
  return {
    provenance: {
      package_id: packageId,
      thread_id: threadId,
      from,
      ...(!isSame && { written_by: writer }),
      sent_by_this_agent: direction === 'sent',
      signature: 'verified',
      signing_key_fingerprint: fingerprint,
      accepted_at: noted.accepted_at ?? storedAt,
      object_type: object.object_type,
      ...(noted.responds_to !== undefined && { responds_to: noted.responds_to }),
      receipts_sent: noted.receipts_sent ?? [],
    },
    untrusted: {
      notice: NOTICE,
      from,
      verified_by: { key_id: noted.signed_by_key ?? '', fingerprint },
      ...((boundaries ?? modelUse) && {
        boundaries: { ...boundaries, ...(modelUse && { model_use: modelUse }) },
      }),
      object,
    },
  }
}
