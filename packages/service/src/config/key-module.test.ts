import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from '@agent-exchange/server/settings'
import { readConfig } from './read-config.ts'
import { showConfig } from './show-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-pin-'))
after(() => rmSync(folder, { recursive: true }))
const pinFile = join(folder, 'pin')
writeFileSync(pinFile, 'pin-of-the-token\n')
const whole = {
  AEX_PKCS11_MODULE: '/usr/lib/softhsm/libsofthsm2.so',
  AEX_PKCS11_TOKEN: 'exchange',
  AEX_PKCS11_PIN_FILE: pinFile,
}

test('a key module is read, and its PIN is not', () => {
  const config = readConfig(whole)
  assert.deepEqual(config.keyModule, {
    module: whole.AEX_PKCS11_MODULE,
    token: 'exchange',
    pinFile,
  })
  assert.ok(!JSON.stringify([config, showConfig(config)]).includes('pin-of-the-token'))
  assert.equal(readConfig({}).keyModule, undefined)
})

for (const [name, change, message] of [
  ['AEX_PKCS11_TOKEN', '', /other AEX_PKCS11 variables/u],
  ['AEX_PKCS11_TOKEN', 'x'.repeat(33), /at most 32 bytes/u],
  ['AEX_PKCS11_PIN_FILE', '', /other AEX_PKCS11 variables/u],
  ['AEX_PKCS11_PIN_FILE', join(folder, 'none'), /no such file/u],
  ['AEX_PKCS11_MODULE', 'libsofthsm2.so', /absolute path/u],
] as const)
  test(`refused at start: ${name}=${change.slice(0, 20)}`, () => {
    assert.throws(
      () => readConfig({ ...whole, [name]: change }),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(
          error.settings.map(({ variable }) => variable),
          [name],
        )
        return message.test(error.settings[0]?.message ?? '')
      },
    )
  })
