import type { DeskRole } from '@agent-exchange/desk'
import { canonicalBytes, sha256Digest } from '@agent-exchange/crypto'
import type { PolicyEnvelope, ReasoningPackage } from '@agent-exchange/protocol'
import type { StoredDraft } from '@agent-exchange/sdk'
import { newObject, type DraftSubject } from '@agent-exchange/sdk/internal'
import { findPerson, insertPerson } from '../people/person-rows.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { addRule, type RuleTerms } from './approval-rules.ts'
import type { DecidingPerson } from './approving-people.ts'
import { recordAuthor, type DraftAuthor } from './draft-authors.ts'
import { openDraftDecisions } from './draft-decisions.ts'
import { isNeeded } from './needed-decisions.ts'
import { passkeyApprovals } from './passkey-approvals.ts'
import { openPasskeys } from './passkeys.ts'
import { softwareAuthenticator, type Forgery } from './software-authenticator.fixture.ts'

export const PARTY = { origin: 'https://gateway.company.example', rpId: 'gateway.company.example' }
const START = new Date('2026-11-18T09:00:00.000Z')
const DAY_MS = 86_400_000
const ANY: RuleTerms = {
  partner: null,
  policyId: null,
  packageType: null,
  sensitivity: null,
  people: 1,
  approvers: [],
}

export type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>

export interface TestDraft {
  readonly stored: StoredDraft
  readonly subject: DraftSubject
}

/** People with passkeys, drafts of one agent, and what `send` asks before it seals. */
export async function startApprovals() {
  const database = await gatewayDatabase()
  const { db } = database
  const agentId = await database.newAgent()
  let time = START.getTime()
  const now = () => new Date(time)
  const parts = { db, publicUrl: PARTY.origin, now }
  const passkeys = openPasskeys({ ...parts, signInKey: new Uint8Array(32).fill(5) })
  const decisions = openDraftDecisions({
    ...parts,
    box: testBox(),
    namesOf: async (ids) => new Map(ids.map((id) => [id, id.replace('person_', '')])),
  })
  const approvals = passkeyApprovals(db, { agentId, publicUrl: PARTY.origin })
  const keys = new Map<string, SoftwareAuthenticator>()

  const at = {
    db,
    agentId,
    passkeys,
    decisions,
    now,
    later: (seconds: number) => void (time += seconds * 1000),
    async person(name: string, isApprover = true): Promise<DecidingPerson> {
      const personId = `person_${name}`
      const row = { id: personId, name, roles: [isApprover ? 'approver' : 'planner'] as const }
      if (!(await findPerson(db, personId)))
        await db.begin((tx) => insertPerson(tx, { ...row, addedAt: now().toISOString() }, 100))
      const key = softwareAuthenticator(PARTY)
      const person = { personId, name, signedInAt: now(), signedInBy: 'link' as const }
      await passkeys.register(person, 'Key', key.create(await passkeys.registrationOptions(person)))
      keys.set(personId, key)
      return { personId, isApprover }
    },
    wrote: ({ personId: id }: DecidingPerson, { stored: { draftId } }: TestDraft) =>
      db.begin((tx) => recordAuthor(tx, { agentId, draftId, author: { kind: 'person', id } })),
    setRoles: ({ personId }: DecidingPerson, ...roles: DeskRole[]) =>
      db`update person set roles = ${roles} where person_id = ${personId}`,
    keyOf: ({ personId }: DecidingPerson) => keys.get(personId) as SoftwareAuthenticator,
    rule: (terms: Partial<RuleTerms>) =>
      addRule(db, { ...ANY, ...terms }, { actor: { kind: 'command', id: 'admin' }, now: now() }),
    /** A draft made one second later. */
    async draft(
      change: (made: ReasoningPackage) => ReasoningPackage = (made) => made,
      author: DraftAuthor | 'unknown' = { kind: 'system', id: 'system_erp' },
    ): Promise<TestDraft> {
      time += 1000
      const draft = await draftOf(change, now())
      const { draftId } = draft.stored
      if (author !== 'unknown') await db.begin((tx) => recordAuthor(tx, { agentId, draftId, author }))
      return draft
    },
    /** The passkey's answer to the question whether this person decides so. */
    async answer(
      person: DecidingPerson,
      { stored }: TestDraft,
      decision = 'approved',
      forgery: Forgery = {},
    ) {
      const shown = { agentId, draft: stored, digest: stored.digest }
      return at.keyOf(person).get(await decisions.options(person, shown, decision), forgery)
    },
    record: (person: DecidingPerson, { stored }: TestDraft, answer: unknown, reason = 'Checked.') =>
      decisions.decide(person, { agentId, draft: stored, digest: stored.digest }, { answer, reason }),
    async decide(person: DecidingPerson, draft: TestDraft, decision = 'approved') {
      return at.record(person, draft, await at.answer(person, draft, decision))
    },
    /** What the page shows to this person. */
    view: (person: DecidingPerson, { stored }: TestDraft) =>
      decisions.view(person, { agentId, draft: stored, digest: stored.digest }),
    /** Whether the first page lists the draft for this person. */
    isNeeded: (person: DecidingPerson, { stored: draft }: TestDraft) =>
      isNeeded(parts, person, { agentId, draft }),
    /** What `send` asks. */
    required: ({ subject }: TestDraft) => approvals.require(subject, { now: now(), maximumAgeMs: DAY_MS }),
    isRequired: ({ subject }: TestDraft) => approvals.isRequired(subject),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
  return at
}

async function draftOf(
  change: (made: ReasoningPackage) => ReasoningPackage,
  createdAt: Date,
): Promise<TestDraft> {
  const sender = { organizationId: 'org_acme', agentId: 'agent_1' }
  const how = { by: sender, to: 'org_bolt', now: START }
  const policy: PolicyEnvelope = newObject('policy_envelope', { ...how, policyId: 'pol_1' })
  const object = change({ ...newObject('reasoning_package', { ...how, policyId: 'pol_1' }), id: 'pkg_1' })
  const recipient = { organization_id: 'org_bolt', agent_id: 'agent_bolt' }
  const content = {
    format: 'aex-draft-content/1' as const,
    sender: { organization_id: 'org_acme', agent_id: 'agent_1' },
    recipient,
    package_id: object.id,
    thread_id: object.thread_id,
    content_type: 'application/json',
    skill: { id: 'skill_alignment', version: '1.0.0' },
    policy,
    object,
  }
  const digest = await sha256Digest(canonicalBytes(content))
  const draft_id = `draft_${createdAt.getTime()}`
  const created_at = createdAt.toISOString()
  return {
    subject: { digest, record: { format: 'aex-draft', version: 1, draft_id, created_at, content } },
    stored: {
      draftId: draft_id,
      createdAt: created_at,
      digest,
      state: 'waiting',
      approvalRequired: true,
      sender,
      recipient: { organizationId: 'org_bolt', agentId: 'agent_bolt' },
      packageId: object.id,
      threadId: object.thread_id,
      contentType: content.content_type,
      skill: content.skill,
      policy,
      object,
    },
  }
}
