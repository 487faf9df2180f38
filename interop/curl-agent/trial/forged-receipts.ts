import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { canonicalBytes, signPackageStatement } from '@agent-exchange/crypto'
import type { EvidenceEntry, PackageEvidence } from '@agent-exchange/protocol'
import { sendReceipt } from '@agent-exchange/testkit'
import type { Stage } from './stage.ts'
import { startMeddlingProxy } from './meddling-proxy.ts'
import { example } from './shell-agent.ts'
import { policyFor } from './scenario.ts'

type Forge = (evidence: PackageEvidence) => object | Promise<object>

/** The exchange appends forged receipts to its chain, with correct hashes and links. */
export async function forgedReceipts({ shell, peer, world, report }: Stage): Promise<void> {
  const approved = ['--approved-by', 'approval_by_planner']
  const policy = policyFor(shell, peer.organizationId)
  const sent = () => shell.run('send', peer.agentId, example('constraint'), policy, ...approved)
  const statement = ({ package: { metadata } }: PackageEvidence) => ({
    receipt_id: 'rcpt_forged',
    occurred_at: world.clock.now(),
    actor_agent_id: peer.agentId,
    package_digest: metadata.content_digest,
  })
  const stranger = await world.organization('stranger')
  const cases: readonly (readonly [what: string, said: RegExp, forge: Forge])[] = [
    ['without a signature', /nobody signed the receipt received: only the exchange says so/u, statement],
    [
      'signed by another organization',
      /is not of the recipient's organization/u,
      (evidence) => signed(evidence, { ...statement(evidence), actor_agent_id: stranger.agentId }, stranger),
    ],
    [
      'signed by another agent in the name of the recipient',
      /has no signing key/u,
      (evidence) => signed(evidence, statement(evidence), stranger),
    ],
    ['of another package', /a receipt of other content/u, () => realReceipt()],
  ]
  for (const [what, said, forge] of cases) {
    await report.step(`it detects a receipt ${what}`, async () => {
      const id = await sent()
      const place = `/v1/audit/packages/${id}`
      const evidence = (await peer.get(place)).body as unknown as PackageEvidence
      const forged = JSON.stringify(appended(evidence, await forge(evidence)))
      await using proxy = await startMeddlingProxy((path, text) => (path === place ? forged : text))
      assert.match(await shell.through(proxy.url).refused('evidence', id), said)
      await shell.run('evidence', id)
    })
  }

  /** A genuine receipt of another package, as stored in the chain. */
  async function realReceipt(): Promise<object> {
    const id = await sent()
    const { body } = await peer.get(`/v1/packages/${id}`)
    const { metadata } = body as unknown as PackageEvidence['package']
    const answer = await sendReceipt(peer, metadata, 'received')
    const { receipt_id, occurred_at, actor_agent_id, package_digest, signature } = answer.body
    return { receipt_id, occurred_at, actor_agent_id, package_digest, signature }
  }
}

async function signed(
  { package_id: packageId }: PackageEvidence,
  body: object,
  { signing }: Stage['peer'],
): Promise<object> {
  const { keyId, pair } = signing
  const key = { key: pair.privateKey, keyId, packageId }
  return { ...body, signature: await signPackageStatement({ ...body, state: 'received' }, key) }
}

function appended(evidence: PackageEvidence, members: object): PackageEvidence {
  const last = evidence.entries.at(-1)
  assert.ok(last)
  const { recorded_at, hash: previous_hash = null } = last.proof
  const proof = { ...members, kind: 'receipt_received', recorded_at, previous_hash, state: 'received' }
  const position = last.position + 1
  const hash = createHash('sha256').update(canonicalBytes({ position, proof })).digest('hex')
  const entry: EvidenceEntry = { position, proof: { ...proof, hash } }
  return {
    ...evidence,
    entries: [...evidence.entries, entry],
    package: { ...evidence.package, state: 'received' },
  }
}
