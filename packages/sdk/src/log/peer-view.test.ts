import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readAdditionalData, decodeBase64url, parseEnvelope } from '@agent-exchange/crypto'
import { noteSigner, parsePolicy, SIGNATURE_TYPE, verifySplitView } from '@agent-exchange/log'
import { logSigner, POLICY, TestLog } from '@agent-exchange/testkit'
import { startAgent } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackage } from '../send/send-package.ts'
import { startProxiedWorld } from '../meddling-proxy.fixture.ts'
import { checkLog, checkPeerCheckpoint } from './accept-checkpoint.ts'
import { createMemoryLogState } from '../log-state.ts'

const { world, proxy, ...proxied } = await startProxiedWorld()
after(() => proxied[Symbol.asyncDispose]())
const acme = await startAgent(world, 'acme', { baseUrl: proxy.url })
const bolt = await startAgent(world, 'bolt', { baseUrl: proxy.url })
const policy = parsePolicy(POLICY)
const leaf = (byte: number) => new Uint8Array(64).fill(byte)

/** A log of that many leaves, with another second leaf in a forked one. */
function logOf(size: number, second = 2): TestLog {
  const log = new TestLog({ platform: world })
  for (let at = 1; at <= size; at++) log.leaves.push(leaf(at === 2 ? second : at % 256))
  return log
}

function show(log: TestLog): void {
  proxy.before = ({ path }) => log.answer(path)
}

/** An agent that has seen a log, with the split views that it keeps. */
async function witnessOf(log: TestLog) {
  const state = createMemoryLogState()
  const context = createContext({ ...acme.options, log: state })
  await log.publish()
  show(log)
  await checkLog(context)
  return { context, state }
}

for (const [own, peer] of [
  [5, 5],
  [5, 3],
  [400, 256],
] as const)
  test(`[AUD-03] a peer's checkpoint of size ${peer} convicts a fork of size ${own}, and no honest log`, async () => {
    const { context, state } = await witnessOf(logOf(own))
    await checkPeerCheckpoint(context, await logOf(peer).publish())
    assert.deepEqual(state.splitViews, [])
    await assert.rejects(checkPeerCheckpoint(context, await logOf(peer, 99).publish()), {
      code: 'log_split_view',
    })
    const [view] = state.splitViews
    const result = await verifySplitView(JSON.parse(JSON.stringify(view)), { policy })
    assert.deepEqual([result.outcome, result.exitCode], ['contradiction', 1])
  })

test('[AUD-03] a peer that saw more makes this agent look again, and a log that stays behind is reported', async () => {
  const log = logOf(3)
  const { context, state } = await witnessOf(log)
  const larger = logOf(5)
  const note = await larger.publish()
  show(larger)
  await checkPeerCheckpoint(context, note)
  assert.equal((await state.read())?.checkpoint, note)
  await assert.rejects(checkPeerCheckpoint(context, await logOf(6).publish()), { code: 'log_rolled_back' })
  assert.equal(state.splitViews.length, 1)
})

test('a note that no known key of the log signed is ignored: a sender may write anything', async () => {
  const { context, state } = await witnessOf(logOf(5))
  const stranger = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(99))
  const forged = new TestLog({ signer: stranger, platform: world })
  forged.leaves.push(leaf(9))
  for (const note of [await forged.publish(), '', 'exchange\n1\n\n']) await checkPeerCheckpoint(context, note)
  assert.deepEqual(state.splitViews, [])
})

test('[AUD-03][O-17] two views of one log meet in a package, without a witness; the package opens all the same', async () => {
  const first = logOf(5)
  await first.publish()
  show(first)
  const outbox = createMemoryOutbox()
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const entry = await outbox.read(sent.packageId)
  const { jwe } = parseEnvelope(new TextEncoder().encode(entry?.envelopeText))
  assert.equal(readAdditionalData(decodeBase64url(jwe.aad))?.['log'], first.checkpoint)

  const second = logOf(7, 99)
  await second.publish()
  show(second)
  const opened = await openPackage(bolt, sent.packageId)
  assert.equal(opened.object.object_type, 'reasoning_package')
  assert.equal(opened.logConflict?.code, 'log_split_view')
  assert.ok(opened.logConflict?.details['file'])
  assert.deepEqual(
    opened.receipts.map(({ state }) => state),
    ['received', 'opened'],
  )
})
