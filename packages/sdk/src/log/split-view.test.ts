import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import {
  formatVerifierKey,
  noteSigner,
  parsePolicy,
  SIGNATURE_TYPE,
  verifySplitView,
} from '@agent-exchange/log'
import { logSigner, POLICY, TestLog } from '@agent-exchange/testkit'
import type { ExchangeError } from '../errors.ts'
import { createContext } from '../create-context.ts'
import { startAgent } from '../agents.fixture.ts'
import { startProxiedWorld, withoutLog } from '../meddling-proxy.fixture.ts'
import { checkLog } from './accept-checkpoint.ts'
import { createMemoryLogState } from '../log-state.ts'

const { world, proxy, ...proxied } = await startProxiedWorld()
after(() => proxied[Symbol.asyncDispose]())
const acme = await startAgent(world, 'acme', { baseUrl: proxy.url })
const policy = parsePolicy(POLICY)
let log = new TestLog({ platform: world })
let state = createMemoryLogState()
const check = () => checkLog(createContext({ ...acme.options, log: state }))
const leaf = (byte: number) => new Uint8Array(64).fill(byte)

beforeEach(() => {
  log = new TestLog({ platform: world })
  log.leaves.push(...[1, 2, 3, 4, 5].map(leaf))
  state = createMemoryLogState()
  proxy.before = ({ path }) => log.answer(path)
})

test('a log that grows is accepted at every size, and the newest checkpoint is kept', async () => {
  assert.equal(await check(), undefined)
  for (const size of [0, 1, 3, 7, 15, 31, 63, 127, 255, 256, 511, 700]) {
    while (log.leaves.length < size) log.leaves.push(leaf(log.leaves.length % 256))
    await log.publish({ size })
    assert.equal((await check())?.size, size)
    assert.equal((await state.read())?.checkpoint, log.checkpoint)
  }
  assert.deepEqual(state.splitViews, [])
})

/** The error, and the split view that was kept with it. */
async function refused(code: string) {
  await assert.rejects(check(), { code })
  const view = state.splitViews.at(-1)
  assert.ok(view)
  return view
}

for (const [seen, shown] of [
  [5, 5],
  [4, 5],
  [3, 400],
  [256, 700],
] as const)
  test(`[AUD-03] two histories, of size ${seen} and ${shown}, are found and convince a third party`, async () => {
    while (log.leaves.length < shown) log.leaves.push(leaf(log.leaves.length % 256))
    await log.publish({ size: seen })
    await check()
    log.leaves[1] = leaf(99)
    await log.publish({ size: shown })
    const view = await refused('log_split_view')
    const result = await verifySplitView(JSON.parse(JSON.stringify(view)), { policy })
    assert.deepEqual([result.outcome, result.exitCode, result.isPinned], ['contradiction', 1, true])
    assert.match(result.sentence, /signed two histories that exclude each other/u)
    assert.notEqual((await state.read())?.checkpoint, log.checkpoint, 'the first one stays the known one')
    // A file that a third party altered convinces nobody.
    const swapped = { ...view, second: view.first }
    assert.equal((await verifySplitView(swapped, { policy })).outcome, 'unproved')
    const fake = view.second.replace(/\n\d+\n/u, '\n1234\n')
    assert.equal((await verifySplitView({ ...view, second: fake }, { policy })).outcome, 'unreadable')
  })

test('an honest pair of checkpoints is never a split view, whatever fork is claimed', async () => {
  const first = await log.publish({ size: 3 })
  const second = await log.publish({ size: 5 })
  const key = (await log.answer('/log/key'))?.body as string
  const [vkey = ''] = (JSON.parse(key) as { verifier_keys: string[] }).verifier_keys
  const base = { format: 'aex-split-view/1', key: vkey, first, second, found_at: '2026-01-01T00:00:00Z' }
  const root = Buffer.alloc(32, 1).toString('base64')
  for (const fork of [undefined, { root, consistency: [] }, { root, consistency: [root, root, root] }]) {
    const result = await verifySplitView({ ...base, ...(fork && { fork }) }, { policy })
    assert.deepEqual([result.outcome, result.exitCode], ['unproved', 3])
  }
})

test('[AUD-03] an operator without a valid proof gets no trust, and is not said to have forked', async () => {
  await log.publish({ size: 3 })
  await check()
  await log.publish({ size: 5 })
  proxy.before = async ({ path }) => {
    const reply = await log.answer(path)
    if (!path.startsWith('/log/tile/') || !reply) return reply
    return { ...reply, body: new Uint8Array(reply.body.length).fill(7) }
  }
  const view = await refused('log_split_view')
  assert.equal((await verifySplitView(view, { policy })).outcome, 'unproved')
})

test('[AUD-03] a log that was restored from an old backup is found', async () => {
  await log.publish({ size: 5 })
  await check()
  await log.publish({ size: 4 })
  const view = await refused('log_rolled_back')
  assert.ok(view.first.includes('\n5\n') && view.second.includes('\n4\n'))
  log.checkpoint = undefined
  await assert.rejects(check(), { code: 'log_rolled_back' })
})

/** A log of the same leaves whose checkpoints another key signs. */
async function strangersLog(platform?: typeof world): Promise<TestLog> {
  const stranger = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(99))
  const other = new TestLog({ signer: stranger, ...(platform && { platform }) })
  other.leaves.push(...log.leaves)
  await other.publish()
  return other
}

test('a checkpoint under another key than the pinned one is refused, whatever the platform states', async () => {
  await log.publish()
  await check()
  for (const other of [await strangersLog(), await strangersLog(world)]) {
    proxy.before = ({ path }) => other.answer(path)
    await assert.rejects(check(), (error: ExchangeError) => {
      assert.ok(['log_unverifiable', 'exchange_answer_unreadable'].includes(error.code), error.code)
      return true
    })
  }
})

test('[ID-10] at the first contact a log key without a statement of the platform is refused', async () => {
  await log.publish()
  for (const [member, value] of [
    ['origin', 'other.example/log'],
    ['purpose', 'aex-other'],
    ['verifier_keys', [formatVerifierKey((await strangersLog()).signer.key)]],
    ['issued_at', '2030-01-01T00:00:00.000Z'],
  ] as const) {
    proxy.before = async ({ path }) => {
      const reply = await log.answer(path)
      if (path !== '/log/key' || !reply) return reply
      const answer = JSON.parse(String(reply.body)) as { statement: object }
      const statement = { ...answer.statement, [member]: value }
      return { ...reply, body: JSON.stringify({ ...answer, statement }) }
    }
    await assert.rejects(check(), { code: 'log_unverifiable' }, member)
  }
  // The key that is shown has to be the stated one.
  proxy.before = async ({ path }) => {
    const reply = await log.answer(path)
    if (path !== '/log/key' || !reply) return reply
    const verifier_keys = [formatVerifierKey((await strangersLog()).signer.key)]
    return {
      ...reply,
      body: JSON.stringify({ ...(JSON.parse(String(reply.body)) as object), verifier_keys }),
    }
  }
  await assert.rejects(check(), { code: 'log_unverifiable' })
})

test('a rotation is followed while both keys sign; later the new key alone is enough', async () => {
  await log.publish({ size: 3 })
  await check()
  const next = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(98))
  log.rotated.push(next)
  await log.publish({ size: 4 })
  assert.equal((await check())?.size, 4)
  assert.equal((await state.read())?.keys.length, 2)
  const alone = new TestLog({ signer: next, platform: world })
  alone.leaves.push(...log.leaves)
  proxy.before = ({ path }) => alone.answer(path)
  await alone.publish({ size: 5 })
  assert.equal((await check())?.size, 5)
  // A fork under the new key convinces a third party too.
  alone.leaves[1] = leaf(77)
  await alone.publish({ size: 5 })
  const view = await refused('log_split_view')
  assert.equal((await verifySplitView(view)).outcome, 'contradiction')
})

test('an exchange without a log says so', async () => {
  proxy.before = withoutLog
  await assert.rejects(check(), { code: 'log_missing' })
})
