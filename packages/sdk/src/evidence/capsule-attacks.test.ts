import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  LOWERING_CODES,
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  verdictSentence,
  verifyCapsule,
  type CapsuleResult,
  type CapsuleV3,
  type KeyEventProof,
} from '@agent-exchange/log'
import { chainCapsuleOf, POLICY, QUICK_LOG, startWorld, type ChainLogPlan } from '@agent-exchange/testkit'
import { wholeThread } from './evidence.fixture.ts'
import { readCapsule } from './read-capsule.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const { acme, bolt, threadId, contents } = await wholeThread(world)
const { capsule: collected } = await readCapsule(bolt, { threadId })
assert.ok(collected.format === 'aex-evidence/3')
const policy = parsePolicy(POLICY)
const logged = (plan: ChainLogPlan = {}, shown: CapsuleV3 = collected) =>
  chainCapsuleOf(shown, { platform: world, cosigners: 2, ...plan })
const capsule = await logged()
const recordedAt = capsule.packages.flatMap(({ entries }) =>
  entries.flatMap((entry) => ('proof' in entry ? [entry.proof.recorded_at] : [])),
)
const lastRecorded = Date.parse(recordedAt.toSorted().at(-1) ?? '') / 1_000
const HOUR = 3_600

const strictest = (value: unknown) => verifyCapsule(value, { policy, require: 'witnessed' })
/** What lowers the level. */
const openIn = ({ checks }: CapsuleResult) =>
  checks.filter(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))

/** All key events, revocations too, before all records, as an operator forges them. */
const keysFirst = (kinds: readonly string[]) => {
  const order = kinds.map((_, at) => at)
  return [...order.filter((at) => kinds[at] !== 'record'), ...order.filter((at) => kinds[at] === 'record')]
}

const withEvents = (change: (events: readonly KeyEventProof[]) => readonly KeyEventProof[]): CapsuleV3 => ({
  ...capsule,
  log: { ...capsule.log, key_events: change(capsule.log.key_events) },
})

test('[ID-04][AUD-03] a capsule that leaves out key events of an agent contradicts itself', async () => {
  const skipped = withEvents((events) => events.map((event) => ({ ...event, number: event.number + 64 })))
  const forged = await strictest(await logged({}, skipped))
  assert.deepEqual([forged.exitCode, forged.level], [1, undefined])
  const [first] = forged.contradictions
  assert.equal(first?.code, 'key_event_numbers')
  const holed = await strictest(withEvents((events) => events.filter(({ kind }) => kind !== 'retiring')))
  assert.deepEqual([holed.exitCode, holed.contradictions[0]?.code], [1, 'key_event_numbers'])
})

test('[ID-05] a use that the log holds after the revocation of its key rests on the exchange', async () => {
  const result = await strictest(await logged({ order: keysFirst }))
  assert.deepEqual([result.exitCode, result.level, result.contradictions], [3, 'signed-only', []])
  const revoked = capsule.log.key_events.find(({ kind }) => kind === 'revoked')?.key_id
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
  assert.equal(accepted.length, capsule.packages.length)
  const late = await verifyCapsule(await logged({ order: keysFirst }), { policy })
  const open = openIn(late).filter(({ values }) => values?.['use'] === 'acceptance_key')
  // The first key of the sender signed nothing after its revocation except, here, what the acceptance names.
  assert.deepEqual(
    open.map(({ package_id }) => package_id),
    accepted.filter(({ key_id }) => key_id === open[0]?.key_id).map(({ package_id }) => package_id),
  )
  assert.ok(open.length > 0)
})

test('[AUD-03] a recorded time that witnesses refute by less than a day rests on the exchange', async () => {
  const plan = { earlierSize: 9, earlierBy: 1 }
  const backdated = await strictest(await logged({ ...plan, cosignedAt: Math.ceil(lastRecorded) + HOUR }))
  assert.deepEqual([backdated.exitCode, backdated.level, backdated.contradictions], [3, 'signed-only', []])
  // Every entry of every record, not only the first.
  const refuted = openIn(backdated)
  assert.ok(refuted.length > 1)
  for (const { code, values } of refuted)
    assert.deepEqual([code, values?.fault], ['recorded_time', 'too_early'])
})

test('[ID-05] a doubt is in the sentence, and strict verification does not accept it', async () => {
  const revoked = withEvents((events) =>
    events.map((event) =>
      event.kind === 'revoked' ? { ...event, invalid_from: recordedAt.toSorted()[0] ?? '' } : event,
    ),
  )
  const doubtful = await logged({}, revoked)
  const lenient = await strictest(doubtful)
  assert.ok(lenient.checks.some(({ result }) => result === 'doubt'))
  assert.match(verdictSentence(lenient), /A person should look at “.*” \(by key_.*already invalid/u)
  const strict = await verifyCapsule(doubtful, { policy, require: 'witnessed', strict: true })
  assert.deepEqual([strict.exitCode, strict.outcome], [3, 'below'])
  assert.match(renderCapsuleText(strict), /Required: witnessed without doubts; not reached/u)
})

test('[ID-04] a capsule says how far it shows key events, since a later revocation can be left out', async () => {
  const stripped = withEvents((events) => events.filter(({ kind }) => kind !== 'revoked'))
  const [whole, cut] = [await strictest(capsule), await strictest(stripped)]
  const through = (result: CapsuleResult) =>
    result.shownKeyEvents.find(({ agentId }) => agentId === acme.identity.agentId)?.through
  const [all = 0, shown = 0] = [through(whole), through(cut)]
  assert.equal(shown, all - 1)
  const page = renderCapsuleHtml(cut, { verifiedAt: '2026-01-01T00:00:00.000Z', file: 'capsule.json' })
  for (const text of [renderCapsuleText(cut), page]) {
    assert.ok(text.includes(`those of ${acme.identity.agentId} up to number ${shown}`))
    assert.ok(text.includes('A later revocation would not show'))
  }
})
