import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test, type TestContext } from 'node:test'
import { canonicalize } from '@agent-exchange/crypto'
import { verifyCapsule, type CapsuleV3 } from '@agent-exchange/log'
import type { SentPackage } from '@agent-exchange/sdk'
import { readCapsule } from '../../../sdk/src/evidence/read-capsule.ts'
import { respondToPackage } from '../../../sdk/src/send/respond-to-package.ts'
import { revokePackage } from '../../../sdk/src/send/revoke-package.ts'
import { rotateKey } from '../../../sdk/src/agent-keys/rotate-key.ts'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { policyWith, startCosigningWitness } from '../../../sdk/src/evidence/cosigning-witness.fixture.ts'
import { craftedMutations } from '../../../sdk/src/evidence/mutate-capsule.fixture.ts'
import { mutationsOf } from '../../../sdk/src/evidence/mutate-value.fixture.ts'
import { inputFor, policyFor, responseFor, SKILL } from '../../../sdk/src/send/drafts.fixture.ts'
import { replayDelivery } from '../../../sdk/src/evidence/replayed-delivery.fixture.ts'
import { open, startSpace, type Company } from './data-space.fixture.ts'

const { witness, ...witnessing } = await startCosigningWitness()
after(() => witnessing[Symbol.asyncDispose]())
const space = await startSpace({ witnesses: [witness] })
after(() => space[Symbol.asyncDispose]())

/** Without `npm run trial -- mutations` a sample, beside all that are made by hand: the whole takes ten minutes. */
const STEP = process.env['EVERY_MUTATION'] === '1' ? 1 : 10

/** Two packages of each party: opened and answered, revoked, signed with a new key, and with a replay that one may see. */
async function witnessedCapsule(acme: Company, bolt: Company): Promise<CapsuleV3> {
  const send = (from: Company, to: Company, threadId?: string) =>
    sendPackage(
      from.agent,
      inputFor(from.agent, to.agent, { ...(threadId && { thread_id: threadId }) }),
      from,
    )
  const first = await send(acme, bolt)
  const { threadId } = first
  await open(bolt, first.packageId)
  const answer = await answered(acme, bolt, first)
  await open(acme, answer.packageId, { receipts: 'received' })
  const { previous } = await rotateKey(acme.agent, 'signing')
  const second = await send(acme, bolt, threadId)
  await revokePackage(
    acme.agent,
    second.packageId,
    { reasonCode: 'superseded', reasonDetail: 'Newer.' },
    acme,
  )
  await acme.agent.connection.call('revokeAgentKey', {
    path: { agent_id: acme.agent.identity.agentId, key_id: previous.keyId },
    body: { invalid_from: space.world.clock.now(), reason_code: 'retired', evidence_reference: 'case_1' },
  })
  const replayed = await replayDelivery(
    space.world,
    acme.agent,
    async () => (await send(bolt, acme, threadId)).packageId,
  )
  await open(acme, replayed)
  const { capsule, pending } = await readCapsule(bolt.agent, { threadId })
  assert.ok(capsule.format === 'aex-evidence/3')
  assert.deepEqual([pending, capsule.packages.length], [[], 4])
  assert.match(JSON.stringify(capsule), /"kind":"delivery_replayed"[^}]*"body_hash"/u)
  return JSON.parse(JSON.stringify(capsule)) as CapsuleV3
}

function answered(to: Company, from: Company, original: SentPackage): Promise<SentPackage> {
  const input = {
    object: responseFor(from.agent, original),
    policy: policyFor(from.agent, to.agent),
    skill: SKILL,
  }
  return respondToPackage(from.agent, original.packageId, input, from)
}

/** Mutations after which the verdict is the same one, which must be none. */
async function tryMutations(t: TestContext, capsule: CapsuleV3): Promise<void> {
  const policy = policyWith(capsule.log.key, witness)
  const verdictOn = (value: unknown) => verifyCapsule(value, { policy, require: 'witnessed' })
  const original = await verdictOn(capsule)
  assert.deepEqual([original.contradictions, original.outcome, original.level], [[], 'meets', 'witnessed'])
  const [text, whole] = [canonicalize(capsule), canonicalize(original)]
  const counts = { contradiction: 0, unreadable: 0, changed: 0, kept: 0 }
  const kept: string[] = []
  const tried = new Set<string>()
  for (const [mutations, step] of [
    [craftedMutations(capsule), 1],
    [mutationsOf(capsule), STEP],
  ] as const) {
    let count = 0
    for (const { name, value } of mutations) {
      if (count++ % step !== 0) continue
      const json = JSON.stringify(value)
      const digest = createHash('sha256').update(json).digest('base64')
      if (tried.has(digest) || canonicalOf(json) === text) continue
      tried.add(digest)
      const result = await verdictOn(JSON.parse(json))
      if (result.outcome === 'contradiction' || result.outcome === 'unreadable') counts[result.outcome]++
      else if (canonicalize(result) === whole) {
        counts.kept++
        kept.push(name)
      } else counts.changed++
    }
  }
  const { contradiction, unreadable, changed } = counts
  t.diagnostic(
    `${tried.size} mutations: ${contradiction} contradictions, ${unreadable} unreadable, ${changed} other verdicts, ${kept.length} kept`,
  )
  assert.deepEqual(kept, [])
}

/** Text that is no Unicode has no canonical form. */
function canonicalOf(json: string): string {
  try {
    return canonicalize(JSON.parse(json))
  } catch {
    return json
  }
}

test('[AUD-01][AUD-03] no mutation of a witnessed capsule of native packages keeps its verdict', async (t) => {
  const parties = { approved: false }
  await tryMutations(
    t,
    await witnessedCapsule(await space.company('acme', parties), await space.company('bolt', parties)),
  )
})

test('[AUD-01][AUD-03] no mutation of a witnessed capsule of ds_x packages keeps its verdict', async (t) => {
  const capsule = await witnessedCapsule(await space.company('acme'), await space.company('bolt'))
  assert.ok(capsule.packages.every(({ metadata }) => metadata.transport_mode === 'ds_x'))
  await tryMutations(t, capsule)
})
