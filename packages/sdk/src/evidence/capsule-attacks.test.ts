import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  verifyCapsule,
  type Capsule,
  type CapsuleResult,
  type EvidenceBundle,
} from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const { acme, bolt, threadId, contents } = await wholeThread(world)
const evidence = await readEvidence(bolt, { threadId })
const policy = parsePolicy(POLICY)
const capsule = await capsuleOf(evidence, { cosigners: 2 })
const lastRecorded = Date.parse(evidence.entries.at(-1)?.proof.recorded_at ?? '') / 1_000
const DAY = 86_400

const strictest = (value: unknown) => verifyCapsule(value, { policy, require: 'witnessed' })
const openIn = ({ unproved }: CapsuleResult) =>
  unproved.filter(({ lowersLevel }) => lowersLevel).map(({ what }) => what)

/** All key events, revocations too, before all records: as an operator forges them, and as a log takes over old records. */
const keysFirst = (kinds: readonly string[]) => {
  const order = kinds.map((_, at) => at)
  return [...order.filter((at) => kinds[at] !== 'record'), ...order.filter((at) => kinds[at] === 'record')]
}

/** The evidence with another cutoff in every revocation. */
function revokedFrom(invalidFrom: string): EvidenceBundle {
  const keys = evidence.keys.map((record) =>
    record.events?.some(({ kind }) => kind === 'revoked')
      ? {
          ...record,
          key: { ...record.key, invalid_from: invalidFrom },
          events: record.events.map((event) =>
            event.kind === 'revoked' ? { ...event, details: { invalid_from: invalidFrom } } : event,
          ),
        }
      : record,
  )
  return { ...evidence, keys }
}

test('[ID-04][AUD-03] a capsule that leaves out key events of an agent contradicts itself', async () => {
  // Behind the 64 numbers that the monitor of the agent watches.
  const forged = await strictest(await capsuleOf(evidence, { cosigners: 2, skippedNumbers: 64 }))
  assert.deepEqual([forged.exitCode, forged.level], [1, undefined])
  assert.deepEqual(new Set(forged.contradictions.map(({ code }) => code)), new Set(['key_event_missing']))
  assert.match(forged.sentence, /shows key event \d+ of agent_\S+ and leaves out 64 of the events before it/u)
  const { key_events: events } = capsule.log
  const retiring = events.filter(({ kind }) => kind !== 'retiring')
  const holed = await strictest({ ...capsule, log: { ...capsule.log, key_events: retiring } })
  assert.deepEqual([holed.exitCode, holed.contradictions[0]?.code], [1, 'key_event_missing'])
})

test('[ID-05] a use that the log holds after the revocation of its key rests on the exchange', async () => {
  const result = await strictest(await capsuleOf(evidence, { cosigners: 2, order: keysFirst }))
  assert.deepEqual([result.exitCode, result.level, result.contradictions], [3, 'exchange-word', []])
  const { key_id: revoked } = evidence.keys.find(({ key }) => key.status === 'revoked')?.key ?? {}
  const [first] = openIn(result)
  assert.match(first ?? '', new RegExp(`^whether key ${revoked} of .* before it was revoked$`, 'u'))
  assert.ok(result.sentence.includes(`not proved is ${first}`))
  assert.match(renderCapsuleText(result), /The log holds its revocation \(key event \d+, leaf \d+\) before/u)
})

test('[ID-05] the key of a policy receipt and of a package has a place in the order of the log', async () => {
  const result = await verifyCapsule(capsule, { policy, contents })
  const signed = result.proved.filter(({ agentId }) => agentId === acme.identity.agentId)
  const places = new Map(signed.map(({ what, position, index }) => [what, { position, index }]))
  for (const what of ['The sender signed the policy receipt', 'The sender signed the content'])
    assert.ok((places.get(what)?.index ?? 0) > 0 && (places.get(what)?.position ?? 0) > 0, what)
  // The first key of the sender signed nothing after its revocation except, here, what the acceptance names.
  const accepted = result.evidence?.checks.filter(({ acceptedKey }) => acceptedKey)
  assert.equal(accepted?.length, evidence.packages.length)
  assert.ok(accepted?.every(({ position }) => position !== undefined))
  const late = await verifyCapsule(await capsuleOf(evidence, { cosigners: 2, order: keysFirst }), { policy })
  const [open = ''] = openIn(late)
  const named = accepted?.filter(({ acceptedKey }) => open.includes(acceptedKey?.keyId ?? '?')) ?? []
  assert.ok(named.length > 0)
  for (const { position } of named) assert.match(open, new RegExp(`\\b${position}\\b`, 'u'))
})

test('[AUD-03] a recorded time that witnesses refute rests on the exchange', async () => {
  const plan = { cosigners: 2, earlierSize: 9 }
  const inTime = await capsuleOf(evidence, { ...plan, cosignedAt: Math.floor(lastRecorded) + DAY })
  assert.equal((await strictest(inTime)).exitCode, 0)
  const backdated = await strictest(
    await capsuleOf(evidence, { ...plan, cosignedAt: Math.ceil(lastRecorded) + DAY + 2_000 }),
  )
  assert.deepEqual([backdated.exitCode, backdated.level, backdated.contradictions], [3, 'exchange-word', []])
  assert.ok(openIn(backdated).every((what) => /^whether entry \d+ was recorded at /u.test(what)))
  assert.match(backdated.sentence, /not proved is whether entry \d+ was recorded at \d{4}-/u)
})

test('[ID-05] a doubt is in the sentence, and strict verification does not accept it', async () => {
  const doubtful = await capsuleOf(revokedFrom(evidence.entries[0]?.proof.recorded_at ?? ''), {
    cosigners: 2,
  })
  const lenient = await strictest(doubtful)
  assert.deepEqual([lenient.exitCode, lenient.level], [0, 'witnessed'])
  assert.ok(lenient.doubts.length > 0)
  assert.match(lenient.sentence, /a person should look at “.*” \(by key_.*already invalid/u)
  const strict = await verifyCapsule(doubtful, { policy, require: 'witnessed', strict: true })
  assert.deepEqual([strict.exitCode, strict.outcome, strict.level], [3, 'below', 'witnessed'])
  assert.match(
    renderCapsuleText(strict),
    /Level: witnessed \(required: witnessed without doubts; not reached\)/u,
  )
  assert.equal((await verifyCapsule(capsule, { policy, strict: true })).exitCode, 0)
})

test('[ID-04] a capsule says how far it shows key events, since a later revocation can be left out', async () => {
  const stripped: Capsule = {
    ...capsule,
    keys: capsule.keys.map(({ organization_id, agent_id, key: shown }) => {
      const { invalid_from: _, revoked_at: __, ...key } = shown
      return { organization_id, agent_id, key: { ...key, status: 'active' } }
    }),
    log: { ...capsule.log, key_events: capsule.log.key_events.filter(({ kind }) => kind !== 'revoked') },
  }
  const [whole, cut] = [await strictest(capsule), await strictest(stripped)]
  const through = (result: CapsuleResult) =>
    result.shownKeyEvents.find(({ agentId }) => agentId === acme.identity.agentId)?.through
  assert.deepEqual([through(whole), through(cut)], [4, 3])
  const page = renderCapsuleHtml(cut, { verifiedAt: '2026-01-01T00:00:00.000Z', file: 'capsule.json' })
  const below = renderCapsuleText(cut).split('\n')[1] ?? ''
  for (const shown of [below, page]) {
    assert.ok(shown.includes(`those of ${acme.identity.agentId} up to number 3`))
    assert.ok(shown.includes('A later revocation would not show'))
  }
})
