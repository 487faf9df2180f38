import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemDetails, validatorOf } from '@agent-exchange/protocol'
import { deliveryWorld, draftPackage, requestToken } from '@agent-exchange/testkit'
import { fakeModule } from '../../../pkcs11/src/fake-module.fixture.ts'

test('[ERR-01][ERR-03] keys in a module sign tokens, acceptances and webhooks; while it is away, what needs a signature is a retryable problem', async () => {
  await using fake = fakeModule()
  await using place = await deliveryWorld({ config: { keyModule: fake.place } })
  const { world, sender, owner, receiver } = place
  await place.endpoint()
  await place.event()
  await place.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.equal(receiver.received.length, 1)
  const metrics = async () => (await fetch(`${world.operatorUrl}/metrics`)).text()
  assert.match(await metrics(), /aex_key_module_up\{module="pkcs11"\} 1/u)

  const draft = await draftPackage(sender, owner)
  const submit = () => sender.post('/v1/packages', draft.body, { idempotencyKey: 'once' })
  await sender.post('/v1/policy-receipts', draft.receipt)
  fake.change({ fails: 'CKR_DEVICE_REMOVED' })
  const refused = await submit()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  assert.deepEqual([refused.body['code'], refused.body['retryable']], ['signing_unavailable', true])
  assert.deepEqual(validatorOf(problemDetails)(refused.body), [])
  const client = {
    baseUrl: world.url,
    clientId: sender.clientId,
    credential: { method: 'private_key_jwt' as const, key: sender.clientKey.privateJwk },
  }
  await assert.rejects(
    requestToken(client),
    ({ cause }: { cause?: { status?: number } }) => cause?.status === 503,
  )
  const rotation = await world.operate('POST', '/keys/rotate', { purpose: 'token' })
  assert.deepEqual([rotation.status, rotation.body['code']], [503, 'signing_unavailable'])
  assert.equal((await sender.get('/v1/skills')).status, 200)
  assert.match(await metrics(), /aex_key_module_up\{module="pkcs11"\} 0/u)
  assert.match(
    await metrics(),
    /aex_key_module_calls_total\{operation="sign",result="module_unavailable"\} [1-9]/u,
  )

  fake.change({ fails: '' })
  assert.equal((await submit()).status, 202)
  assert.ok((await requestToken(client)).access_token)
  assert.ok(!world.logged.join('').includes('1234\\n'))
})
