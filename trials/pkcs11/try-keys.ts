import assert from 'node:assert/strict'
import { createPublicKey, diffieHellman, generateKeyPairSync, verify } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { generateKeyPair, openPackage, sealPackage, type PublicJwk } from '@agent-exchange/crypto'
import { type KeyModule, openModule } from '@agent-exchange/pkcs11'
import { mustRun } from '../shared/programs.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import type { SoftHsm } from './soft-hsm.ts'

const data = new TextEncoder().encode('what is signed')
const THIEF = fileURLToPath(new URL('./extract-keys-worker.ts', import.meta.url))
const THIEF_MS = 20_000
const ROUNDS = 500
const keyObject = (jwk: PublicJwk) => createPublicKey({ key: { ...jwk }, format: 'jwk' })

/** Keys in the module do what node:crypto does, and cannot be taken out. */
export async function tryKeys(hsm: SoftHsm, report: TrialTools['report']): Promise<void> {
  await using module = openModule(hsm)
  await report.step('keys', 'signatures verify with node:crypto', async () => {
    const { reference, privateKey } = await module.generate({ use: 'signing', label: 'trial signing' })
    const again = await module.privateKey(reference, 'signing')
    const key = { key: keyObject(privateKey.publicJwk), dsaEncoding: 'ieee-p1363' } as const
    for (let round = 0; round < 50; round += 1) assert.ok(verify('sha256', data, key, await again.sign(data)))
    await assert.rejects(again.agree(privateKey.publicJwk), { code: 'call_refused' })
    return reference
  })
  await report.step(
    'keys',
    'secrets agree with node:crypto, and a package sealed for the module opens',
    async () => {
      const { privateKey } = await module.generate({ use: 'encryption', label: 'trial encryption' })
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const expected = diffieHellman({
        privateKey: other.privateKey,
        publicKey: keyObject(privateKey.publicJwk),
      })
      const otherJwk = other.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk
      assert.deepEqual(Buffer.from(await privateKey.agree(otherJwk)), expected)
      const sender = { kid: 'key_a', publicKey: (await generateKeyPair('encryption')).publicKey }
      const recipient = { kid: 'key_b', publicKey: { jwk: privateKey.publicJwk } }
      const sealed = await sealPackage(data, { sender, recipient })
      assert.deepEqual((await openPackage(sealed, { kid: 'key_b', privateKey })).plaintext, data)
      return 'opened'
    },
  )
  await report.step('keys', 'an imported key and an Ed25519 key', async () => {
    const pair = await generateKeyPair('encryption')
    const { privateKey } = await module.importKey(pair.privateJwk, {
      use: 'encryption',
      label: 'trial imported',
    })
    const peer = (await generateKeyPair('encryption')).publicKey.jwk
    assert.deepEqual(
      Buffer.from(await privateKey.agree(peer)),
      Buffer.from(await pair.privateKey.agree(peer)),
    )
    if (!(await module.check()).hasEd25519) return 'imported; the module has no Ed25519'
    const { publicKey, sign } = await module.generateEd25519('trial log')
    const raw = await crypto.subtle.importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify'])
    assert.ok(await crypto.subtle.verify('Ed25519', raw, new Uint8Array(await sign(data)), data))
    return 'both work'
  })
  await report.step('keys', 'nobody takes a private key out, not even with the PIN', async () => {
    const { binding, module: library, token, pinFile, env } = hsm
    const args = ['-C', 'source', THIEF, binding, library, token, pinFile]
    const answers = (await mustRun(process.execPath, args, { env, limitMs: THIEF_MS })).trim().split('\n')
    assert.equal(answers.length, (await module.list()).length)
    assert.ok(
      answers.every((answer) => answer.startsWith('CKR_ATTRIBUTE_SENSITIVE')),
      answers.join(', '),
    )
    return `${answers.length} keys: CKR_ATTRIBUTE_SENSITIVE`
  })
  await report.step('keys', 'time of a call beside node:crypto', () => measure(module))
}

/** Microseconds of one call after the other, with the hop to the thread and back. */
async function measure(module: KeyModule): Promise<string> {
  const peer = (await generateKeyPair('encryption')).publicKey.jwk
  const inModule = {
    signing: (await module.generate({ use: 'signing', label: 'trial speed' })).privateKey,
    encryption: (await module.generate({ use: 'encryption', label: 'trial speed' })).privateKey,
  }
  const here = {
    signing: (await generateKeyPair('signing')).privateKey,
    encryption: (await generateKeyPair('encryption')).privateKey,
  }
  const found: string[] = []
  for (const [name, keys] of Object.entries({ SoftHSM: inModule, 'node:crypto': here })) {
    const signature = await microseconds(() => keys.signing.sign(data))
    const agreement = await microseconds(() => keys.encryption.agree(peer))
    found.push(`${name}: ${signature} µs a signature, ${agreement} µs an agreement`)
  }
  return found.join('; ')
}

async function microseconds(work: () => Promise<unknown>): Promise<number> {
  for (let round = 0; round < 20; round += 1) await work()
  const start = performance.now()
  for (let round = 0; round < ROUNDS; round += 1) await work()
  return Math.round(((performance.now() - start) / ROUNDS) * 1_000)
}
