import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { importPublicJwk } from '@agent-exchange/crypto'
import {
  chainLinks,
  chainRecordLabel,
  compareViews,
  identityOf,
  LABEL_LENGTH,
  readLogView,
  verifyCapsule,
  verifyPackageHead,
  type CapsulePackage,
  type CapsuleV3,
} from '@agent-exchange/log'
import { createContext } from '../create-context.ts'
import { createMemoryLogState } from '../log-state.ts'
import { Operator, startCheatingExchange } from './cheating-exchange.fixture.ts'
import { logPolicy, stranger } from './cheating-way.fixture.ts'
import { capsuleFrom, headAt, KEPT_ENTRIES, secondHistory } from './second-history.fixture.ts'

const exchange = await startCheatingExchange()
after(() => exchange[Symbol.asyncDispose]())
const { world, thread, packages } = exchange
const [first] = packages
const unlogged = await secondHistory(exchange)
const [second] = unlogged.packages as [CapsulePackage]
const DAY_SECONDS = 86_400
const recordedAt = first.entries.flatMap((entry) => ('proof' in entry ? [entry.proof.recorded_at] : []))
const lastRecorded = recordedAt.at(-1) ?? ''
/** A minute after the last entry. */
const COSIGNED_AT = Math.ceil(Date.parse(lastRecorded) / 1_000) + 60

/** One log with both histories, event by event, as an operator has it who prepares the second one in time. */
async function logBoth() {
  const both = { ...exchange.capsule, packages: [...exchange.capsule.packages, second] }
  const { log } = new Operator(exchange, both)
  await log.publish({ cosigners: 2, time: COSIGNED_AT })
  const own = log.records.filter(({ record }) => record.package_id === first.metadata.package_id)
  const isSecond = (index: number) =>
    own.some(
      ({ record, index: before }) =>
        before < index &&
        own.some((each) => each.index === index && each.record.first_position === record.first_position),
    )
  return {
    log,
    firstCapsule: await capsuleFrom(exchange, log, first, (index) => !isSecond(index)),
    secondCapsule: await capsuleFrom(exchange, log, second, isSecond),
  }
}

/** The second history is appended a while after witnesses saw the first one. */
async function logSecondLater(seconds: number) {
  const { log } = new Operator(exchange)
  const size = log.leaves.length
  await log.publish({ cosigners: 2, time: COSIGNED_AT + seconds })
  log.logCapsule(unlogged)
  await log.publish({ cosigners: 2, time: COSIGNED_AT + seconds + 60 })
  return {
    log,
    size,
    firstCapsule: await capsuleFrom(exchange, log, first, (index) => index < size),
    secondCapsule: await capsuleFrom(exchange, log, second, (index) => index >= size),
  }
}

async function statesIn(capsule: CapsuleV3) {
  const { exitCode, states } = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), {
    policy: logPolicy,
    require: 'witnessed',
  })
  assert.equal(exitCode, 0)
  return states.map(({ packageId, signedState }) => [packageId, signedState])
}

test('[AUD-03] a sender who signs its policy receipt twice has two histories, and the monitor of the recipient finds no second one', async () => {
  const operator = new Operator(exchange)
  const before = await operator.scan()
  const { records } = operator.log
  const shown = records.length
  operator.log.logCapsule(unlogged)
  // The exchange shows the recipient only the first one.
  records.splice(shown)
  const { kinds, scanned } = await operator.scan(before.state)
  assert.deepEqual([kinds, scanned], [[], second.records.length])
  assert.deepEqual((await operator.scan()).kinds, [])
})

test('[AUD-03] both histories verify, each by itself, and aex log compare sees one log', async () => {
  const { firstCapsule, secondCapsule } = await logBoth()
  const { package_id } = first.metadata
  assert.deepEqual(await statesIn(firstCapsule), [[package_id, 'opened']])
  assert.deepEqual(await statesIn(secondCapsule), [[package_id, 'accepted']])
  const bytes = (capsule: CapsuleV3) => new TextEncoder().encode(JSON.stringify(capsule))
  const views = [
    await readLogView(bytes(firstCapsule), []),
    await readLogView(bytes(secondCapsule), []),
  ] as const
  assert.equal((await compareViews(...views, { foundAt: lastRecorded })).outcome, 'same')
})

test('[AUD-03] two capsules of one package convict: one id and digest, two policy receipts, two links at every position, both in one log', async () => {
  const { log, firstCapsule, secondCapsule } = await logBoth()
  const [[one], [other]] = [firstCapsule.packages, secondCapsule.packages]
  assert.ok(one && other)
  assert.deepEqual(other.metadata, one.metadata)
  const { signature: known, ...receipt } = one.policy_receipt
  const { signature: unknown, ...sameReceipt } = other.policy_receipt
  assert.deepEqual(sameReceipt, receipt)
  assert.notEqual(unknown.signature, known.signature)
  const [{ links: mine = [] }, { links: theirs = [] }] = [chainLinks(one), chainLinks(other)]
  for (let position = 0; position <= KEPT_ENTRIES; position++)
    assert.notDeepEqual(mine[position], theirs[position])

  // Statements of the exchange about one position of one package, with two links: it signed both.
  const { head } = one
  const key = exchange.capsule.keys.find(({ key_id }) => key_id === head?.signature.key_id)
  assert.ok(head && other.head && key)
  const publicKey = await importPublicJwk(key.public_key, { use: 'signing' })
  const earlier = await headAt(world, head, { shown: one, position: KEPT_ENTRIES, log })
  for (const each of [earlier, other.head]) await verifyPackageHead(each, publicKey)
  assert.deepEqual([earlier.package_id, earlier.position], [other.head.package_id, other.head.position])
  assert.notEqual(earlier.link, other.head.link)
})

test('[AUD-03] whoever has the second policy receipt finds its leaves, and since when the log holds them', async () => {
  const { log, size } = await logSecondLater(0)
  const label = chainRecordLabel({ ...identityOf(second), firstPosition: 1 })
  const found = log.leaves.flatMap((leaf, index) =>
    Buffer.compare(leaf.subarray(0, LABEL_LENGTH), label) === 0 ? [index] : [],
  )
  assert.equal(found.length, 1)
  assert.ok((found[0] ?? 0) >= size)
})

test('[AUD-03] a second history that is made up two days later contradicts the times that witnesses saw', async () => {
  const { firstCapsule, secondCapsule } = await logSecondLater(2 * DAY_SECONDS)
  assert.deepEqual((await stranger(firstCapsule)).codes, [])
  assert.deepEqual((await stranger(secondCapsule)).codes, ['recorded_time'])
})

test('[AUD-03] the second history cannot hold a receipt that the recipient did not sign', async () => {
  const { secondCapsule } = await logBoth()
  const [shown] = secondCapsule.packages
  const receipt = packages[1].entries.find(
    (entry) => 'proof' in entry && entry.proof.kind === 'receipt_received',
  )
  assert.ok(shown && receipt)
  const entries = [...shown.entries, { ...receipt, position: KEPT_ENTRIES + 1 }]
  const { codes } = await stranger({ ...secondCapsule, packages: [{ ...shown, entries }] })
  assert.ok(codes.includes('receipt_signature'), codes.join())
})

test('[AUD-03] an operator who conspires with the recipient keeps no second history that the monitor of the sender does not find', async () => {
  const operator = new Operator(exchange)
  operator.agent = createContext({ ...thread.acme.options, log: createMemoryLogState() })
  // The agent revoked a key by hand.
  const ownEvents = exchange.capsule.log.key_events.flatMap(({ kind, number }) =>
    kind === 'revoked' ? [number] : [],
  )
  const before = await operator.scan({ ...operator.nothingKnown, ownEvents })
  assert.deepEqual(before.kinds, [])
  operator.appendRecord(first, 1)
  assert.deepEqual((await operator.scan(before.state)).kinds, ['duplicate'])
})
