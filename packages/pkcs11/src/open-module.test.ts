import assert from 'node:assert/strict'
import { diffieHellman, generateKeyPairSync, verify, createPublicKey } from 'node:crypto'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { generateKeyPair, openPackage, sealPackage, type PublicJwk } from '@agent-exchange/crypto'
import { CKF } from './constants.ts'
import { fakeModule } from './fake-module.fixture.ts'
import { isModuleAway, MODULE_ERROR_CODES, ModuleError, type ModuleErrorCode } from './module-error.ts'

const data = new TextEncoder().encode('what is signed')
const keyObject = (jwk: PublicJwk) => createPublicKey({ key: { ...jwk }, format: 'jwk' })
const code = (expected: ModuleErrorCode) => (error: unknown) => {
  assert.ok(error instanceof ModuleError, String(error))
  assert.equal(error.code, expected, error.message)
  return true
}

test('a key is made in the module, cannot be extracted, and is found again by its reference', async () => {
  await using fake = fakeModule()
  const { reference, privateKey } = await fake.keys.generate({ use: 'signing', label: 'agent signing' })
  assert.match(reference, /^pkcs11:token=aex;id=(?:%[0-9a-f]{2}){16};type=private$/u)
  assert.deepEqual(
    fake.state().objects.map(({ isPrivate, isExtractable }) => isPrivate && isExtractable),
    [false, false],
  )
  const again = await fake.open().privateKey(reference, 'signing')
  assert.deepEqual(again.publicJwk, privateKey.publicJwk)
  const signature = await again.sign(data)
  const key = { key: keyObject(privateKey.publicJwk), dsaEncoding: 'ieee-p1363' } as const
  assert.ok(verify('sha256', data, key, signature))
  assert.deepEqual(await fake.keys.list(), [{ reference, label: 'agent signing' }])
  await fake.keys.destroy(reference)
  await fake.keys.destroy(reference)
  const elsewhere = [reference.replace('aex', 'other'), reference.replace('private', 'public'), 'x', '']
  for (const wrong of [reference, ...elsewhere])
    await assert.rejects(fake.keys.privateKey(wrong, 'signing'), code('key_missing'))
})

test('a secret agrees with node:crypto, and a package that is sealed for the module opens', async () => {
  await using fake = fakeModule()
  const { privateKey } = await fake.keys.generate({ use: 'encryption', label: 'agent encryption' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const otherJwk = other.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk
  const expected = diffieHellman({ privateKey: other.privateKey, publicKey: keyObject(privateKey.publicJwk) })
  assert.deepEqual(Buffer.from(await privateKey.agree(otherJwk)), expected)
  const sender = await generateKeyPair('encryption')
  const sealed = await sealPackage(data, {
    sender: { kid: 'key_a', publicKey: sender.publicKey },
    recipient: { kid: 'key_b', publicKey: { jwk: privateKey.publicJwk } },
  })
  assert.deepEqual((await openPackage(sealed, { kid: 'key_b', privateKey })).plaintext, data)
})

test('a module that is away is used again when it is back, after a new login', async () => {
  await using fake = fakeModule()
  const { privateKey } = await fake.keys.generate({ use: 'signing', label: 'a' })
  const away = [
    'CKR_DEVICE_REMOVED',
    'CKR_SESSION_HANDLE_INVALID',
    'CKR_TOKEN_NOT_PRESENT',
    'CKR_GENERAL_ERROR',
  ]
  for (const [index, returned] of away.entries()) {
    fake.change({ fails: returned })
    await assert.rejects(
      privateKey.sign(data),
      (error) => code('module_unavailable')(error) && isModuleAway(error),
    )
    fake.change({ fails: '' })
    assert.equal((await privateKey.sign(data)).length, 64)
    assert.equal(fake.state().logins, index + 2)
  }
  fake.change({ isRemoved: true, fails: 'CKR_SESSION_CLOSED' })
  await assert.rejects(fake.keys.check(), code('module_unavailable'))
  fake.change({ fails: '' })
  await assert.rejects(fake.keys.check(), code('token_missing'))
  fake.change({ isRemoved: false })
  assert.deepEqual(await fake.keys.check(), { hasEd25519: false })
})

test('a wrong PIN is tried once, whatever is called, until the PIN file changes', async () => {
  await using fake = fakeModule()
  writeFileSync(fake.pinFile, '9999\n')
  for (let call = 0; call < 5; call += 1) {
    await assert.rejects(fake.keys.check(), (error: Error) => {
      assert.doesNotMatch(error.message, /9999/u)
      return code('pin_refused')(error) && !isModuleAway(error)
    })
  }
  assert.equal(fake.state().logins, 1)
  writeFileSync(fake.pinFile, '1234')
  utimesSync(fake.pinFile, 1, 1)
  await fake.keys.check()
  assert.equal(fake.state().logins, 2)
})

test('the last try of a PIN is not used up, a locked PIN is not tried, and a missing file is said to be missing', async () => {
  await using fake = fakeModule()
  fake.change({ flags: CKF.USER_PIN_FINAL_TRY })
  await assert.rejects(fake.keys.check(), code('pin_last_try'))
  fake.change({ flags: CKF.USER_PIN_LOCKED })
  await assert.rejects(fake.keys.check(), code('pin_locked'))
  fake.change({ flags: 0 })
  rmSync(fake.pinFile)
  await assert.rejects(fake.keys.check(), code('pin_unreadable'))
  assert.equal(fake.state().logins, 0)
})

test('a binding or a library that is not there is named, with what to do', async () => {
  await using fake = fakeModule()
  await assert.rejects(fake.open({ binding: 'pkcs11js-that-is-not-there' }).check(), /npm install pkcs11js@/u)
  await assert.rejects(fake.open({ module: '/nowhere/libnone.so' }).check(), code('module_not_loaded'))
})

test('what a module refuses for good is no reason to try again', async () => {
  await using fake = fakeModule()
  await assert.rejects(
    fake.keys.check().then(() => fake.keys.generateEd25519('a')),
    (error) => !isModuleAway(error),
  )
  fake.change({ fails: 'CKR_MECHANISM_INVALID' })
  await assert.rejects(fake.keys.list(), code('call_refused'))
})

test('every error says what to do, and only the module being away is worth a retry', () => {
  const away = MODULE_ERROR_CODES.filter((each) => new ModuleError(each).retryable)
  assert.deepEqual(away, ['token_missing', 'module_unavailable', 'module_timeout', 'module_busy'])
  assert.ok(
    isModuleAway(new Error('a', { cause: new Error('b', { cause: new ModuleError('module_busy') }) })),
  )
  assert.ok(!isModuleAway(new Error('a')) && !isModuleAway(undefined))
})
