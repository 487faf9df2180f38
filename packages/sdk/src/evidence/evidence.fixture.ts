import { parseDigest, sha256Digest, canonicalBytes } from '@agent-exchange/crypto'
import type { World } from '@agent-exchange/testkit'
import type { EvidenceBundle } from '@agent-exchange/log'
import type { EvidenceReport } from '@agent-exchange/log'
import { rotateKey } from '../agent-keys/rotate-key.ts'
import { startAgents, type TestAgent } from '../agents.fixture.ts'
import { inputFor, policyFor, responseFor, SKILL } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { respondToPackage } from '../send/respond-to-package.ts'
import { revokePackage } from '../send/revoke-package.ts'
import { sendPackage } from '../send/send-package.ts'

/** A thread in which everything happened: opened, answered, approved, revoked, with a key that was replaced and revoked. */
export interface WholeThread {
  readonly acme: TestAgent
  readonly bolt: TestAgent
  readonly threadId: string
  /** Opened and answered. */
  readonly first: string
  readonly answer: string
  /** Approved by a person, signed with the new key, and revoked. */
  readonly revoked: string
  readonly input: ReturnType<typeof inputFor>
  /** The envelopes of all packages, by package id. */
  readonly contents: Readonly<Record<string, Uint8Array>>
}

export async function wholeThread(world: World): Promise<WholeThread> {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const sent = await sendPackage(acme, input, { outbox })
  const { threadId } = sent
  await openPackage(bolt, sent.packageId)
  const response = { object: responseFor(bolt, sent), policy: policyFor(bolt, acme), skill: SKILL }
  const answer = await respondToPackage(bolt, sent.packageId, response, { outbox })
  await openPackage(acme, answer.packageId, { receipts: 'received' })
  const { previous } = await rotateKey(acme, 'signing')
  const policy = policyFor(acme, bolt, { human_approval: { required: true, approval_id: 'approval_1' } })
  const approve = () => ({ approved: true })
  const approved = { ...inputFor(acme, bolt, { thread_id: threadId }), policy, approve }
  const second = await sendPackage(acme, approved, { outbox })
  await revokePackage(acme, second.packageId, { reasonCode: 'superseded', reasonDetail: 'Newer.' })
  world.clock.advance(10)
  await acme.connection.call('revokeAgentKey', {
    path: { agent_id: acme.identity.agentId, key_id: previous.keyId },
    body: { invalid_from: world.clock.now(), reason_code: 'retired', evidence_reference: 'case_1' },
  })
  const contents: Record<string, Uint8Array> = {}
  for (const id of [sent.packageId, answer.packageId, second.packageId])
    contents[id] = new TextEncoder().encode((await outbox.read(id))?.envelopeText)
  const ids = { first: sent.packageId, answer: answer.packageId, revoked: second.packageId }
  return { acme, bolt, threadId, ...ids, input, contents }
}

/** What failed, for messages. */
export function failing({ checks }: EvidenceReport): string[] {
  return checks.filter(({ result }) => result === 'fails').map((check) => JSON.stringify(check))
}

/** The same evidence with its chain hashed and linked again, as only the exchange can. */
export async function relinked(bundle: EvidenceBundle): Promise<EvidenceBundle> {
  const entries: EvidenceBundle['entries'][number][] = []
  for (const [index, entry] of bundle.entries.entries()) {
    const previous = entries[index - 1]
    const { hash: _, ...proof } = { ...entry.proof, previous_hash: previous?.proof.hash ?? null }
    const digest = parseDigest(await sha256Digest(canonicalBytes({ ...entry, proof })))
    entries.push({ ...entry, proof: { ...proof, hash: Buffer.from(digest).toString('hex') } })
  }
  return { ...bundle, entries }
}
