import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Caller } from '../kernel/call.ts'
import { createCallerStatus } from './caller-status.ts'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

const caller = (name: string, client = `client_${name}`): Caller => ({
  organizationId: `org_${name}`,
  agentId: undefined,
  clientId: client,
})

async function provision(name: string, status = 'active', client = 'active'): Promise<Caller> {
  await db`insert into organization (organization_id, name, status, created_at) values (${`org_${name}`}, '', ${status}, now())`
  await db`insert into oauth_client (client_id, organization_id, authentication, status, created_at)
           values (${`client_${name}`}, ${`org_${name}`}, 'private_key_jwt', ${client}, now())`
  return caller(name)
}

const tokenOf = (of: Caller, credentialVersion = 0) => ({ caller: of, credentialVersion })

const outcome = (check: Promise<unknown>) =>
  check.then(
    () => 'passes',
    (error: { code: string }) => error.code,
  )

test('[AUTH-01] callers in one batch are each checked by their own status', async () => {
  const [fine, suspended, disabled] = [
    await provision('fine'),
    await provision('suspended', 'suspended'),
    await provision('disabled', 'active', 'disabled'),
  ]
  // Another organization's client, and a forged name that contains both ids.
  const mixed = [caller('fine', 'client_disabled'), caller('nobody'), caller('fine', 'fine client_fine')]
  const asked = [fine, suspended, fine, disabled, ...mixed, fine]
  const embedded = createCallerStatus(db, 'embedded')
  const no = 'caller_suspended'
  assert.deepEqual(await Promise.all(asked.map((each) => outcome(embedded(tokenOf(each))))), [
    'passes',
    no,
    'passes',
    no,
    no,
    no,
    no,
    'passes',
  ])
  // Clients of an external issuer have no row; only the organization is checked.
  const outside = createCallerStatus(db, 'external')
  assert.deepEqual(await Promise.all(asked.map((each) => outcome(outside(tokenOf(each))))), [
    'passes',
    no,
    'passes',
    'passes',
    'passes',
    no,
    'passes',
    'passes',
  ])
})

test('[AUTH-01] a suspension takes effect with the next request, even while a batch is in progress', async () => {
  const acme = await provision('acme')
  const requireActive = createCallerStatus(db, 'embedded')
  let isSuspended = false
  const stream = Array.from({ length: 8 }, async () => {
    for (let count = 0; count < 40; count++) {
      const cameAfter = isSuspended
      const result = await outcome(requireActive(tokenOf(acme)))
      if (cameAfter) assert.equal(result, 'caller_suspended')
    }
  })
  await requireActive(tokenOf(acme))
  await db`update organization set status = 'suspended' where organization_id = ${acme.organizationId}`
  isSuspended = true
  assert.equal(await outcome(requireActive(tokenOf(acme))), 'caller_suspended')
  await Promise.all(stream)
})

test('[AUTH-02] a rotation invalidates the tokens of all earlier credentials, also within one batch', async () => {
  const rotating = await provision('rotating')
  const embedded = createCallerStatus(db, 'embedded')
  await db`update oauth_client set credential_version = 2 where client_id = ${rotating.clientId}`
  const asked = [0, 1, 2, 3].map((version) => outcome(embedded(tokenOf(rotating, version))))
  const no = 'access_token_invalid'
  assert.deepEqual(await Promise.all(asked), [no, no, 'passes', no])
  // An external issuer manages the credentials of its clients itself.
  assert.equal(await outcome(createCallerStatus(db, 'external')(tokenOf(rotating))), 'passes')
})
