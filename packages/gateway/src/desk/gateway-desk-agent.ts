import {
  CONTENT_ROLES,
  endingKeysOf,
  hasOneOf,
  readPackageOf,
  threadsOfInbox,
  type DeskAgent,
  type DeskPerson,
  type ReadPackage,
} from '@agent-exchange/desk'
import type { Database } from '@agent-exchange/database'
import type { PackageResource, PolicyEnvelope } from '@agent-exchange/protocol'
import { ExchangeError, type Drafts, type StoredDraft } from '@agent-exchange/sdk'
import { readPending } from '@agent-exchange/sdk/internal/node'
import { readAddressBook } from '../agents/address-book.ts'
import { skillOf, type HostedAgent } from '../agents/hosted-agent.ts'
import { storeReceived } from '../agents/receive-package.ts'
import { sendStoredDraft } from '../agents/send-stored-draft.ts'
import type { DraftDecisions } from '../approvals/draft-decisions.ts'
import { isNeeded } from '../approvals/needed-decisions.ts'
import { recordAccess } from '../content/access-record.ts'
import type { ContentStore, StoredContent } from '../content/content-store.ts'
import { modelUseOf } from '../content/received-policies.ts'
import { listPolicies } from '../policies/agent-policies.ts'
import { listDeadlines } from '../operations/response-deadlines.ts'
import { openPostgresInbox } from '../stores/inbox.ts'
import { draftsVersion } from '../stores/draft-store.ts'
import { MAXIMUM_WAITING } from './desk-limits.ts'
import { passkeyDecisionsOf } from './passkey-desk.ts'
import { GatewayProblem } from '../problems.ts'

export interface DeskParts {
  readonly db: Database
  readonly contents: ContentStore
  readonly now: () => Date
  readonly publicUrl: string
  readonly decisions: DraftDecisions
}

const PURPOSE = 'read at the desk'

/** An agent of the gateway as one person sees it: whatever the person reads is an entry of the access record. */
export function gatewayDeskAgent(parts: DeskParts, hosted: HostedAgent, person: DeskPerson): DeskAgent {
  const { db, contents, now } = parts
  const { agent, agentId } = hosted
  const inbox = openPostgresInbox(db, agentId)

  /** The table of routes refuses it already. This holds for whatever page comes later. */
  function requireContentRole(): void {
    if (!hasOneOf(person, CONTENT_ROLES)) throw new ExchangeError('content_unavailable')
  }

  const noteRead = (threadId: string, packageId: string) =>
    db.begin((tx) =>
      recordAccess(tx, {
        at: now().toISOString(),
        agentId,
        threadId,
        packageId,
        action: 'read',
        actor: { kind: 'person', id: person.id },
        purpose: PURPOSE,
      }),
    )

  const packageOf = (packageId: string, signal?: AbortSignal) =>
    agent.context.connection.call('getPackage', {
      path: { package_id: packageId },
      ...(signal && { signal }),
    })

  /** From the store of the gateway. Undefined: the gateway has no copy, for example because opening it failed. */
  async function readStored(packageId: string, purpose = PURPOSE) {
    requireContentRole()
    const stored = await contents.read({ kind: 'person', id: person.id, purpose }, agentId, packageId)
    // Its retention has ended. The exchange may still have the ciphertext, but nobody opens it again.
    if (stored === 'gone') throw new ExchangeError('content_unavailable')
    return stored
  }

  async function readUnstored(packageId: string) {
    const { thread_id: threadId } = await packageOf(packageId)
    await noteRead(threadId, packageId)
    return agent.open(packageId, { receipts: 'none' })
  }

  /** From the exchange while it has the content, because it also says who verified and approved; then from the own copy. */
  async function readInFull(packageId: string): Promise<ReadPackage> {
    const stored = await readStored(packageId)
    const opened = stored ? agent.open(packageId, { receipts: 'none' }) : readUnstored(packageId)
    const read = await opened.then(readPackageOf).catch(async (error: unknown) => {
      if (!stored || !(error instanceof ExchangeError)) throw error
      return copyOf(stored, await packageOf(packageId))
    })
    const { metadata } = read.resource
    const organizationId = metadata.sender_org_id
    const modelUse =
      organizationId === agent.identity.organizationId
        ? undefined
        : await modelUseOf(db, { agentId, organizationId, object: read.object })
    return {
      ...read,
      ...(stored?.retentionUntil !== undefined && { keptUntil: stored.retentionUntil }),
      ...(modelUse && { modelUse }),
    }
  }

  async function seen<T extends { readonly draft: StoredDraft }>(work: Promise<T>): Promise<T> {
    requireContentRole()
    const { draft, ...rest } = await work
    await noteRead(draft.threadId, draft.packageId)
    return { draft, ...rest } as T
  }

  const listed = new Set<string>()

  /** A list shows how each draft begins. As with packages, one entry says so while the session remembers it. */
  async function noteListed(shown: readonly StoredDraft[]): Promise<void> {
    for (const { draftId, threadId, packageId } of shown) {
      if (listed.has(draftId)) continue
      await noteRead(threadId, packageId)
      listed.add(draftId)
    }
  }

  const drafts: Drafts = {
    ...hosted.drafts,
    async list() {
      requireContentRole()
      const open = await hosted.drafts.list()
      await noteListed(open)
      return open
    },
    get: async (draftId) => (await seen(hosted.drafts.get(draftId).then((draft) => ({ draft })))).draft,
    create: (input) => hosted.draftsBy({ kind: 'person', id: person.id }).create(input),
    evaluate: (draftId, options) => seen(hosted.drafts.evaluate(draftId, options)),
    async send(draftId, options) {
      const draft = await hosted.drafts.get(draftId)
      return sendStoredDraft(db, hosted, draft, options).catch((error: unknown) => {
        if (error instanceof GatewayProblem) throw new ExchangeError('policy_refused', { cause: error })
        throw error
      })
    },
  }

  return {
    place: 'gateway',
    identity: agent.identity,
    ...(agent.context.logPolicy && { logPolicy: agent.context.logPolicy }),
    get profile() {
      return agent.context.deployment.profile
    },
    names: () => readAddressBook(db),
    defaultPolicy: async (organizationId) => policyFor(await listPolicies(db, agentId), organizationId),
    defaultSkill: async () => skillOf(hosted),
    // The instance that leads polls all the time.
    fetchEvents: async () => undefined,
    summary: async () => ({ inbox: await inbox.position(), drafts: await draftsVersion(db, agentId) }),
    async waiting(at) {
      const [{ forPerson, sealed, setAside }, endingKeys] = await Promise.all([
        readPending(hosted.drafts, hosted.outbox, inbox),
        endingKeysOf(agent, at),
      ])
      const forThem = hasOneOf(person, CONTENT_ROLES)
        ? await draftsFor(parts, person, agentId, forPerson)
        : []
      await noteListed(forThem)
      return { drafts: forThem, sealed: sealed.length, setAside, endingKeys }
    },
    async openDeadlines() {
      requireContentRole()
      return listDeadlines(db, agentId)
    },
    threads: (limit) => threadsOfInbox(inbox, limit),
    async isKnownThread(threadId) {
      return (await contents.list(agentId, { threadId, limit: 1 })).length > 0
    },
    thread: agent.thread,
    package: packageOf,
    read: async (packageId) => (await readStored(packageId)) ?? readUnstored(packageId),
    readInFull,
    async open(packageId) {
      if (!(await readStored(packageId))) await noteRead((await packageOf(packageId)).thread_id, packageId)
      const opened = await agent.open(packageId)
      await db.begin((tx) => storeReceived(tx, { hosted, contents, opened, openedAt: now() }))
      return opened
    },
    revoke: (packageId, input) => agent.revoke(packageId, input),
    async evidence(subject, { disclose = [] } = {}) {
      // Whoever gets the capsule can read these packages.
      if (disclose.length > 0) requireContentRole()
      for (const packageId of disclose) await readStored(packageId, 'disclosed to an auditor')
      return agent.capsule(subject, { waitMs: 0, disclose })
    },
    drafts,
    passkeys: passkeyDecisionsOf(parts.decisions, { agentId, drafts }, person),
    async decide() {
      throw new ExchangeError('approver_missing')
    },
  }
}

function copyOf({ object, provenance }: StoredContent, resource: PackageResource): ReadPackage {
  const { signed_by_key: key } = provenance
  return { object, resource, ...(typeof key === 'string' && { signedByKey: key }) }
}

/** The policy under which people write to an organization: the first that permits it. */
const policyFor = (policies: readonly PolicyEnvelope[], organizationId: string | undefined) =>
  policies.find(
    ({ allowed_recipients: allowed }) => organizationId === undefined || allowed.includes(organizationId),
  )

/** Drafts for which the approval of this person is missing. */
async function draftsFor(
  parts: DeskParts,
  { id: personId, roles }: DeskPerson,
  agentId: string,
  waiting: readonly StoredDraft[],
): Promise<readonly StoredDraft[]> {
  const person = { personId, isApprover: roles.includes('approver') }
  const listed = waiting.slice(0, MAXIMUM_WAITING)
  const isFor = await Promise.all(listed.map((draft) => isNeeded(parts, person, { agentId, draft })))
  return listed.filter((_draft, index) => isFor[index])
}
