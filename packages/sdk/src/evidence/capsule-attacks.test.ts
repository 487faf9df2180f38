import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  LOWERING_CODES,
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  verdictSentence,
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
/** What lowers the level, beside the format. */
const openIn = ({ checks }: CapsuleResult) =>
  checks.filter(
    ({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code) && code !== 'format_bound',
  )

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
  assert.deepEqual(new Set(forged.contradictions.map(({ code }) => code)), new Set(['key_event_numbers']))
  assert.equal(forged.contradictions[0]?.values?.['missing'], 64)
  const { key_events: events } = capsule.log
  const retiring = events.filter(({ kind }) => kind !== 'retiring')
  const holed = await strictest({ ...capsule, log: { ...capsule.log, key_events: retiring } })
  assert.deepEqual([holed.exitCode, holed.contradictions[0]?.code], [1, 'key_event_numbers'])
})

test('[ID-05] a use that the log holds after the revocation of its key rests on the exchange', async () => {
  const result = await strictest(await capsuleOf(evidence, { cosigners: 2, order: keysFirst }))
  assert.deepEqual([result.exitCode, result.level, result.contradictions], [3, 'exchange-word', []])
  const { key_id: revoked } = evidence.keys.find(({ key }) => key.status === 'revoked')?.key ?? {}
  const [first] = openIn(result)
  assert.deepEqual([first?.code, first?.key_id], ['key_used_before_revocation', revoked])
  assert.match(renderCapsuleText(result), /The log holds its revocation \(key event \d+, leaf \d+\) first/u)
})

test('[ID-05] the key of a policy receipt and of a package has a place in the order of the log', async () => {
  const result = await verifyCapsule(capsule, { policy, contents })
  const orders = result.checks.filter(
    ({ code, agent_id }) => code === 'key_logged_before_use' && agent_id === acme.identity.agentId,
  )
  for (const use of ['policy_receipt_signature', 'content_signature', 'acceptance_key']) {
    const found = orders.find(({ values }) => values?.['use'] === use)
    assert.ok(Number(found?.values?.['index']) > 0 && (found?.position ?? 0) > 0, use)
  }
  const accepted = result.checks.filter(({ code }) => code === 'acceptance_key')
  assert.equal(accepted.length, evidence.packages.length)
  const late = await verifyCapsule(await capsuleOf(evidence, { cosigners: 2, order: keysFirst }), { policy })
  const open = openIn(late).filter(({ values }) => values?.['use'] === 'acceptance_key')
  // The first key of the sender signed nothing after its revocation except, here, what the acceptance names.
  assert.deepEqual(
    open.map(({ position }) => position),
    accepted.filter(({ key_id }) => key_id === open[0]?.key_id).map(({ position }) => position),
  )
  assert.ok(open.length > 0)
})

test('[AUD-03] a recorded time that witnesses refute rests on the exchange', async () => {
  const plan = { cosigners: 2, earlierSize: 9 }
  const inTime = await capsuleOf(evidence, { ...plan, cosignedAt: Math.floor(lastRecorded) + DAY })
  // An hour and more outside of what witnesses allow, which is beyond the tolerance.
  assert.ok(openIn(await strictest(inTime)).every(({ values }) => values?.fault === 'too_early'))
  const backdated = await strictest(
    await capsuleOf(evidence, { ...plan, cosignedAt: Math.ceil(lastRecorded) + DAY + 2_000 }),
  )
  assert.deepEqual([backdated.exitCode, backdated.level, backdated.contradictions], [3, 'exchange-word', []])
  // Every entry of every record, not only the first; records from before the log are never a contradiction.
  const refuted = openIn(backdated)
  assert.ok(refuted.length > 0 && refuted.every(({ code }) => code === 'recorded_time'))
})

test('[ID-05] a doubt is in the sentence, and strict verification does not accept it', async () => {
  const doubtful = await capsuleOf(revokedFrom(evidence.entries[0]?.proof.recorded_at ?? ''), {
    cosigners: 2,
  })
  const lenient = await strictest(doubtful)
  assert.ok(lenient.checks.some(({ result }) => result === 'doubt'))
  assert.match(verdictSentence(lenient), /A person should look at “.*” \(by key_.*already invalid/u)
  const strict = await verifyCapsule(doubtful, { policy, require: 'witnessed', strict: true })
  assert.deepEqual([strict.exitCode, strict.outcome], [3, 'below'])
  assert.match(renderCapsuleText(strict), /Required: witnessed without doubts; not reached/u)
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
  const below = renderCapsuleText(cut)
  for (const shown of [below, page]) {
    assert.ok(shown.includes(`those of ${acme.identity.agentId} up to number 3`))
    assert.ok(shown.includes('A later revocation would not show'))
  }
})
