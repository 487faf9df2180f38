import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { startAgent, startAgents, type TestAgent } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { inputFor, policyFor, responseFor, SKILL } from './drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackageReceipt } from '../open/package-receipts.ts'
import { respondToPackage } from './respond-to-package.ts'
import { revokePackage } from './revoke-package.ts'
import type { SentPackage } from './send-input.ts'
import { sendPackage } from './send-package.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
/** Each took over from the agent that the conversation began with. */
const [acmeNext, boltNext] = [
  await startAgent(world, 'acme', { colleagueOf: acme }),
  await startAgent(world, 'bolt', { colleagueOf: bolt }),
]
const outbox = createMemoryOutbox()
const REASON = { reasonCode: 'superseded', reasonDetail: 'A newer one follows.' }

const answerBy = (from: TestAgent, to: TestAgent, original: SentPackage, change = {}) => ({
  object: responseFor(from, original, change),
  policy: policyFor(from, to),
  skill: SKILL,
})

test('[PKG-09][O-46] a response that a colleague wrote opens, and the agent that sent it is named', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const written = { created_by: responseFor(boltNext, sent).created_by }
  const answer = answerBy(bolt, acme, sent, written)
  const { packageId } = await respondToPackage(bolt, sent.packageId, answer, { outbox })
  const { object, senderKey, receipts } = await openPackage(acme, packageId)
  assert.equal(object.created_by.agent_id, boltNext.identity.agentId)
  assert.equal(senderKey.agentId, bolt.identity.agentId)
  assert.equal(receipts.length, 2)
})

test('[O-46] whether a colleague may answer or revoke is for the exchange to decide; a stranger may not', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const { packageId } = sent
  const asked: string[] = []
  const recorded = ({ options }: TestAgent) =>
    createContext({
      ...options,
      fetch: (url, init) => {
        if (init?.method === 'POST') asked.push(new URL(url).pathname)
        return fetch(url, init)
      },
    })
  await respondToPackage(recorded(boltNext), packageId, answerBy(boltNext, acme, sent), { outbox }).catch(
    () => undefined,
  )
  await revokePackage(recorded(acmeNext), packageId, REASON).catch(() => undefined)
  assert.ok(asked.includes(`/v1/packages/${packageId}/responses`))
  assert.ok(asked.includes(`/v1/packages/${packageId}/revoke`))

  const refused = (code: string) => (error: unknown) => error instanceof ExchangeError && error.code === code
  const elsewhere = { ...answerBy(bolt, acme, sent), to: bolt.identity }
  await assert.rejects(respondToPackage(bolt, packageId, elsewhere, { outbox }), refused('input_invalid'))
  await assert.rejects(revokePackage(bolt, packageId, REASON), refused('package_not_for_us'))
  const backwards = answerBy(acme, bolt, sent)
  await assert.rejects(
    respondToPackage(acme, packageId, backwards, { outbox }),
    refused('package_not_for_us'),
  )
})

test('[PKG-09][O-46] agents that took over go on with the conversation', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  await openPackage(bolt, sent.packageId)
  const answer = { ...answerBy(boltNext, acmeNext, sent), to: acmeNext.identity }
  const { packageId, threadId } = await respondToPackage(boltNext, sent.packageId, answer, { outbox })
  const { senderKey } = await openPackage(acmeNext, packageId)
  assert.equal(senderKey.agentId, boltNext.identity.agentId)
  const next = answerBy(acmeNext, boltNext, { ...sent, packageId, threadId })
  const last = await respondToPackage(acmeNext, packageId, next, { outbox })
  assert.equal((await openPackage(boltNext, last.packageId)).senderKey.agentId, acmeNext.identity.agentId)
})

test('[PKG-08][PKG-10][O-46] agents that took over receipt and revoke', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const resource = await boltNext.connection.call('getPackage', { path: { package_id: sent.packageId } })
  const receipt = await sendPackageReceipt(boltNext, resource, 'received')
  assert.equal(receipt.actor_agent_id, boltNext.identity.agentId)
  const again = await sendPackageReceipt(boltNext, resource, 'received')
  assert.deepEqual([again.receipt_id, again.accepted_at], [receipt.receipt_id, receipt.accepted_at])
  const { revocation } = await revokePackage(acmeNext, sent.packageId, REASON)
  assert.equal(revocation.state, 'revoked')
})
