import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { CRYPTO_ERROR_CODES, CryptoError } from './errors.ts'

test('the README lists every error code', async (t) => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const named = new Set(readme.match(/`[a-z0-9]+_[a-z0-9_]+`/g)?.map((code) => code.slice(1, -1)))
  t.assert.deepEqual(
    CRYPTO_ERROR_CODES.filter((code) => !named.has(code)),
    [],
  )
})

test('an error names the member and is matched by its code', (t) => {
  const error = new CryptoError('sealed_iv', { at: 'jwe.iv' })
  t.assert.equal(error.code, 'sealed_iv')
  t.assert.match(error.message, /^jwe\.iv: The iv/)
  t.assert.equal(error.name, 'CryptoError')
})
