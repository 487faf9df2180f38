import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile, DEFAULT_PROFILE, PUBLISHED_PROFILE } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { behindLiar } from '../send/crafted.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackage } from '../send/send-package.ts'
import { createMemoryDeployment, type DeploymentChange } from './deployment.ts'

const OTHER = {
  'O-14': { request_bytes: 32_768 },
  'O-34': { passing_outcomes: ['ok'], approving_outcomes: ['yes'] },
  'O-46': { opened_by: 'organization' },
}
const world = await startWorld({ profile: OTHER })
after(() => world[Symbol.asyncDispose]())
const [acme, bolt] = [await startAgent(world, 'acme'), await startAgent(world, 'bolt')]
const HOUR = 3_600
const DOCUMENT = /^\/openapi\.json$/

const publishing = (agent: TestAgent, profile: unknown, options: Partial<TestAgent['options']> = {}) =>
  behindLiar({ ...agent, options: { ...agent.options, ...options } }, DOCUMENT, (text) =>
    JSON.stringify({ ...(JSON.parse(text) as object), [PUBLISHED_PROFILE]: profile }),
  )

test('[O-34] the SDK sends and opens by what its exchange publishes, not by the defaults', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox: createMemoryOutbox() })
  const { policyReceipt } = await openPackage(bolt, sent.packageId)
  assert.ok(policyReceipt.receipt.checks.every(({ outcome }) => outcome === 'ok'))
  assert.equal(policyReceipt.package_authorization, 'eligible')
})

test('[O-14] content above the size that the exchange publishes is refused before anything is sent', async () => {
  const input = inputFor(acme, bolt)
  const object = {
    ...input.object,
    reasoning: { summary: 'x'.repeat(40_000), drivers: [], known_unknowns: [] },
  } as typeof input.object
  const sending = sendPackage(acme, { ...input, object }, { outbox: createMemoryOutbox() })
  await assert.rejects(
    sending,
    (error) => error instanceof ExchangeError && error.code === 'content_too_large',
  )
})

test('[O-47] trust is this agent’s own, whatever the exchange publishes', async () => {
  const published = createProfile({
    'O-17': { content_digest_rules: ['ciphertext-bytes'] },
    'O-47': { verifying: 'directory', sealing: 'directory' },
  })
  assert.ok(published.ok)
  const loose = publishing(bolt, published.profile)
  await loose.deployment.refresh()
  assert.deepEqual(loose.deployment.profile['O-47'], DEFAULT_PROFILE['O-47'])
  assert.deepEqual(loose.deployment.profile['O-17'], DEFAULT_PROFILE['O-17'])
  const own = createContext({ ...bolt.options, trust: { 'O-46': { receipts: 'recipient_agent' } } })
  await own.deployment.refresh()
  assert.equal(own.deployment.profile['O-46'].receipts, 'recipient_agent')
  assert.equal(own.deployment.profile['O-46'].opened_by, DEFAULT_PROFILE['O-46'].opened_by)
  assert.throws(
    () => createContext({ ...bolt.options, trust: { 'O-14': { request_bytes: 1 } } as object }),
    (error) => error instanceof ExchangeError && error.code === 'input_invalid',
  )
})

test('what was published is kept for an hour and across restarts, and a change is said once', async () => {
  const store = createMemoryDeployment()
  const said: DeploymentChange[] = []
  const options = { deployment: store, onDeploymentChange: (change: DeploymentChange) => said.push(change) }
  const first = createContext({ ...bolt.options, ...options })
  await first.deployment.refresh()
  assert.equal(first.deployment.profile['O-14'].request_bytes, 32_768)
  assert.equal(said.length, 0, 'a first contact is no change')

  const restarted = publishing(bolt, { 'O-14': { request_bytes: 65_536 } }, options)
  await restarted.deployment.refresh()
  assert.equal(restarted.deployment.profile['O-14'].request_bytes, 32_768, 'known, and not asked again')
  world.clock.advance(HOUR)
  await Promise.all([restarted.deployment.refresh(), restarted.deployment.refresh()])
  assert.equal(restarted.deployment.profile['O-14'].request_bytes, 65_536)
  assert.equal(said.length, 1)
  const found = said[0]?.changes.map(({ id, setting }) => `${id}.${setting}`)
  assert.ok(found?.includes('O-14.request_bytes') && found.includes('O-34.passing_outcomes'))
  assert.deepEqual((await store.read())?.changed, said[0])
})

test('an exchange that publishes nothing, nonsense or does not answer changes nothing that was known', async () => {
  const store = createMemoryDeployment()
  const known = createContext({ ...bolt.options, deployment: store })
  await known.deployment.refresh()
  for (const answer of ['{}', 'x', '[]', undefined]) {
    world.clock.advance(HOUR)
    const options = { ...bolt.options, deployment: store, limits: { attempts: 1 } }
    const lying = behindLiar({ ...bolt, options }, DOCUMENT, () => answer)
    await lying.deployment.refresh()
    assert.equal(lying.deployment.profile['O-14'].request_bytes, 32_768)
  }
  const fresh = behindLiar(bolt, DOCUMENT, () => '{}')
  await fresh.deployment.refresh()
  assert.deepEqual(fresh.deployment.profile, DEFAULT_PROFILE)
})

test('a given profile is not replaced by a published one', async () => {
  const context = createContext({ ...bolt.options, profile: DEFAULT_PROFILE })
  await context.deployment.refresh()
  assert.deepEqual(context.deployment.profile, DEFAULT_PROFILE)
})
