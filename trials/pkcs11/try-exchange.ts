import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftPackage, freePorts, sendPackage, startReceiver, until } from '@agent-exchange/testkit'
import { openModule } from '@agent-exchange/pkcs11'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { spawnServe } from '../shared/serve-process.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import type { SoftHsm } from './soft-hsm.ts'

/** `aex serve` with its keys in the module. */
export async function tryExchange(hsm: SoftHsm, { folder, report }: TrialTools): Promise<void> {
  await using receiver = await startReceiver()
  const ca = join(folder, 'receiver-ca.pem')
  writeFileSync(ca, receiver.authority.certificate)
  const env = {
    ...hsm.env,
    AEX_PKCS11_MODULE: hsm.module,
    AEX_PKCS11_TOKEN: hsm.token,
    AEX_PKCS11_PIN_FILE: hsm.pinFile,
    AEX_WEBHOOK_CA: ca,
    AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
  }
  await report.step('exchange', 'a wrong PIN is one sentence, and locks nothing', () =>
    tryWrongPin(hsm, env, folder),
  )
  let given: Exchange | undefined
  await report.step('exchange', 'serves with keys in the module', async () => {
    given = await startExchange({ env })
    const held = new Set<string>()
    for (const purpose of ['webhook', 'token', 'statement', 'log']) {
      const { body } = await given.operate('GET', `/keys?purpose=${purpose}`)
      for (const key of body['keys'] as { held_in: string }[]) held.add(`${purpose} ${key.held_in}`)
    }
    assert.ok(!held.has('webhook database'))
    return [...held].join(', ')
  })
  if (!given) return
  await using exchange = given
  const [sender, owner] = [await exchange.organization('sender'), await exchange.organization('owner')]
  const delivers = async () => {
    const before = receiver.received.length
    await sendPackage(sender, owner)
    await until('a delivery', () => receiver.received.length > before)
  }
  await report.step('exchange', 'delivers signed webhooks', async () => {
    const answer = await owner.post('/v1/webhook-endpoints', { url: receiver.url, event_types: [] })
    assert.equal(answer.status, 201, answer.text)
    await delivers()
    return `${receiver.received.length} delivered`
  })
  await report.step('exchange', 'the module goes away and comes back without a restart', async () => {
    const draft = await draftPackage(sender, owner)
    await sender.post('/v1/policy-receipts', draft.receipt)
    const submit = () => sender.post('/v1/packages', draft.body, { idempotencyKey: 'once' })
    renameSync(hsm.tokenFolder, `${hsm.tokenFolder}-away`)
    const refused = await submit()
    renameSync(`${hsm.tokenFolder}-away`, hsm.tokenFolder)
    assert.deepEqual([refused.status, refused.body['code']], [503, 'signing_unavailable'])
    await until('accepted', async () => (await submit()).status === 202)
    await delivers()
    const metrics = await (await fetch(`${exchange.operatorUrl}/metrics`)).text()
    assert.match(metrics, /aex_key_module_up\{module="pkcs11"\} 1/u)
    return '503 signing_unavailable, then 202 and delivered'
  })
  await report.step('exchange', 'rotation makes the next key in the module', async () => {
    const rotated = await exchange.operate('POST', '/keys/rotate', { purpose: 'statement' })
    assert.equal(rotated.body['held_in'], `token ${hsm.token}`)
    return rotated.body['held_in']
  })
}

async function tryWrongPin(
  hsm: SoftHsm,
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<string> {
  const pinFile = join(folder, 'wrong-pin')
  writeFileSync(pinFile, '9999\n')
  const data = join(folder, 'wrong-pin-data')
  const [port, operatorPort] = await freePorts(2)
  const served = spawnServe({
    ...env,
    AEX_PKCS11_PIN_FILE: pinFile,
    AEX_DATA_DIR: data,
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
  })
  assert.equal(await served.end(), 1)
  const sentence = served.messages.find((line) => line.includes('PIN')) ?? served.messages.join('\n')
  assert.match(sentence, /The token refuses the PIN\. Correct the PIN file\./u)
  assert.doesNotMatch(served.messages.join('\n') + served.logged.join('\n'), /9999|1234/u)
  await using module = openModule(hsm)
  await module.check()
  return sentence
}
