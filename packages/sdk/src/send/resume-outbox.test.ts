import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { inputFor } from './drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { resumeOutbox } from './resume-outbox.ts'
import { sendPackage } from './send-package.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')

class Crash extends Error {}

/** Ends the process, as far as the sender can tell: at one point, before or after what happens there. */
function crashingAt(point: string, when: 'before' | 'after') {
  const seen: string[] = []
  const at = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    seen.push(name)
    if (name === point && when === 'before') throw new Crash()
    const result = await work()
    if (name === point) throw new Crash()
    return result
  }
  return {
    seen: () => seen,
    outbox: (outbox: Outbox): Outbox => ({
      ...outbox,
      add: (entry) => at('add', () => outbox.add(entry)),
      advance: (entry, change) => at(`advance to ${change.state}`, () => outbox.advance(entry, change)),
    }),
    fetch: (url: string, init: RequestInit) => {
      const isMutation = init.method === 'POST' && url.includes('/v1/')
      return isMutation ? at(`POST ${new URL(url).pathname}`, () => fetch(url, init)) : fetch(url, init)
    },
  }
}

const POINTS = [
  'add',
  'POST /v1/policy-receipts',
  'advance to receipt_accepted',
  'POST /v1/packages',
  'advance to accepted',
]

async function rowsOf(packageId: string) {
  const [row] = await world.sql`select
    (select count(*)::int from package where package_id = ${packageId}) as packages,
    (select count(*)::int from policy_receipt where package_id = ${packageId}) as receipts`
  return row
}

for (const point of POINTS) {
  for (const when of ['before', 'after'] as const) {
    test(`[API-04] a crash ${when} "${point}" leaves exactly one package after resuming`, async () => {
      const outbox = createMemoryOutbox()
      const crash = crashingAt(point, when)
      const input = inputFor(acme, bolt)
      const dying = createContext({
        ...acme.options,
        fetch: (url, init) => crash.fetch(url, init ?? {}),
        limits: { attempts: 1 },
      })
      await assert.rejects(sendPackage(dying, input, { outbox: crash.outbox(outbox) }))
      assert.equal(crash.seen().at(-1), point)
      const before = await outbox.read(input.object.id)
      const { packages } = await resumeOutbox(createContext(acme.options), { outbox })
      if (before === undefined) {
        assert.equal(`${point} ${when}`, 'add before')
        assert.deepEqual(packages, [])
        await sendPackage(acme, input, { outbox })
      } else if (before.state !== 'accepted') {
        assert.deepEqual(packages, [{ packageId: input.object.id, outcome: 'accepted' }])
      }
      const kept = await outbox.read(input.object.id)
      assert.equal(kept?.state, 'accepted')
      if (before) assert.equal(kept?.envelopeText, before.envelopeText)
      assert.deepEqual({ ...(await rowsOf(input.object.id)) }, { packages: 1, receipts: 1 })
      await openPackage(bolt, input.object.id)
    })
  }
}

test('[API-04] sending and resuming at the same time, twice each, makes one package', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const crash = crashingAt('POST /v1/policy-receipts', 'before')
  const dying = createContext({
    ...acme.options,
    fetch: (url, init) => crash.fetch(url, init ?? {}),
    limits: { attempts: 1 },
  })
  await assert.rejects(sendPackage(dying, input, { outbox }))
  await Promise.all([
    resumeOutbox(acme, { outbox }),
    resumeOutbox(createContext(acme.options), { outbox }),
    sendPackage(acme, input, { outbox }),
    sendPackage(acme, input, { outbox }),
  ])
  assert.deepEqual({ ...(await rowsOf(input.object.id)) }, { packages: 1, receipts: 1 })
})

test('an exchange that forgot its answers still knows the package', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const crash = crashingAt('advance to receipt_accepted', 'before')
  await assert.rejects(sendPackage(acme, input, { outbox: crash.outbox(outbox) }))
  await world.sql`delete from idempotency_record`
  const second = crashingAt('advance to accepted', 'before')
  await assert.rejects(sendPackage(acme, input, { outbox: second.outbox(outbox) }), Crash)
  await world.sql`delete from idempotency_record`
  const { packages } = await resumeOutbox(acme, { outbox })
  assert.deepEqual(packages, [{ packageId: input.object.id, outcome: 'accepted' }])
  assert.deepEqual({ ...(await rowsOf(input.object.id)) }, { packages: 1, receipts: 1 })
})

test('[PKG-15] what the exchange refuses for good ends, says why, and can be sent again as a whole', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const setStatus = async (status: string) => {
    const answer = await world.operate('POST', `/agents/${bolt.identity.agentId}/status`, {
      status,
      reason: 'a test',
    })
    assert.equal(answer.status, 200)
  }
  await setStatus('suspended')
  await assert.rejects(sendPackage(acme, input, { outbox }), (error: unknown) => {
    assert.ok(error instanceof ExchangeError)
    assert.equal(error.problem?.code, 'recipient_not_capable')
    return true
  })
  const refused = await outbox.read(input.object.id)
  assert.deepEqual([refused?.state, refused?.problem], ['refused', 'recipient_not_capable'])
  assert.deepEqual(await resumeOutbox(acme, { outbox }), { packages: [], pruned: 0 })
  await setStatus('active')
  const sent = await sendPackage(acme, input, { outbox })
  assert.equal(sent.resumed, false)
  assert.notEqual(sent.policyReceiptId, refused?.metadata.policy_receipt_id)
})

test('a temporary failure is kept and reported', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const offline = createContext({
    ...acme.options,
    limits: { attempts: 1 },
    fetch: async (url, init) => {
      if (init?.method === 'POST' && url.includes('/v1/packages')) throw new TypeError('fetch failed')
      return fetch(url, init)
    },
  })
  await assert.rejects(sendPackage(offline, input, { outbox }), { code: 'exchange_unreachable' })
  const { packages } = await resumeOutbox(offline, { outbox })
  assert.deepEqual(
    packages.map(({ packageId, outcome, error }) => [packageId, outcome, error?.code]),
    [[input.object.id, 'pending', 'exchange_unreachable']],
  )
  assert.equal((await resumeOutbox(acme, { outbox })).packages[0]?.outcome, 'accepted')
})

test('what ended is forgotten after its time', async () => {
  const outbox = createMemoryOutbox()
  const { packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  assert.equal((await resumeOutbox(acme, { outbox })).pruned, 0)
  const later = createContext({
    ...acme.options,
    now: () => new Date(acme.now().getTime() + 31 * 86_400_000),
  })
  assert.equal((await resumeOutbox(later, { outbox })).pruned, 1)
  assert.equal(await outbox.read(packageId), undefined)
})
