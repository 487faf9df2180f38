import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { TestLog } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { inputFor } from '../exchange/drafts.fixture.ts'
import { createMemoryOutbox } from '../exchange/memory-outbox.ts'
import { openPackage } from '../exchange/open-package.ts'
import { sendPackage } from '../exchange/send-package.ts'
import { startProxiedWorld } from '../meddling-proxy.fixture.ts'
import { createMemoryLogState } from './log-state.ts'

const { world, proxy, ...proxied } = await startProxiedWorld()
after(() => proxied[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents({ ...world, url: proxy.url }, 'acme', 'bolt')
const { packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox: createMemoryOutbox() })
const leaf = (byte: number) => new Uint8Array(64).fill(byte)
const log = new TestLog({ platform: world })
log.leaves.push(leaf(1), leaf(2), leaf(3))
await log.publish()

/** A context that looks at the log again, with what it saw before. */
function later(state: ReturnType<typeof createMemoryLogState>, minutes: number) {
  const now = () => new Date(Date.now() + minutes * 60_000)
  return createContext({ ...bolt.options, log: state, now })
}
const receipts = () => proxy.passed.filter(({ path }) => path.endsWith('/receipts')).length

test('[AUD-03] a recipient that is shown another history opens nothing and sends no receipt', async () => {
  const state = createMemoryLogState()
  proxy.before = ({ path }) => log.answer(path)
  await openPackage(later(state, 0), packageId, { receipts: 'none' })
  assert.ok(await state.read())
  const asked = proxy.count('/log/checkpoint')
  await openPackage(later(state, 0), packageId, { receipts: 'none' })
  assert.equal(proxy.count('/log/checkpoint'), asked, 'packages of one minute share a look at the log')

  log.leaves[1] = leaf(9)
  await log.publish()
  const sent = receipts()
  await assert.rejects(openPackage(later(state, 2), packageId), { code: 'log_split_view' })
  assert.equal(receipts(), sent)
  assert.equal(state.splitViews.length, 1)
})

test('a log that is missing, out of reach or broken keeps nobody from working', async () => {
  for (const instead of [
    { status: 404, body: '' },
    { status: 500, body: '' },
    { status: 200, body: '{' },
  ]) {
    proxy.before = ({ path }) => (path.startsWith('/log/') ? instead : undefined)
    const opened = await openPackage(later(createMemoryLogState(), 0), packageId, { receipts: 'none' })
    assert.equal(opened.metadata.package_id, packageId)
  }
})
