import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { signEs256 } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import type { NewKey } from '../keys/key-store.ts'
import { testKeyStore } from '../keys/key-store-contract.fixture.ts'
import { createMemoryKeyProvider } from '../keys/memory-key-provider.fixture.ts'
import { openFileKeyStore } from './file-key-store.ts'
import { withFileLock } from './file-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-keys-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const freshFile = () => join(folder, `keys-${(files += 1)}.json`)
const cost = { n: 1_024, r: 8, p: 1 }
const passphrase = 'correct horse battery staple'
const signing: NewKey = { role: 'signing', stage: 'current', createdAt: '2026-03-01T09:00:00.000Z' }
const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, expected, error.message)
  return true
}

testKeyStore('in a file', () => openFileKeyStore(freshFile()))
testKeyStore('in a locked file', () => openFileKeyStore(freshFile(), { passphrase, cost }))
testKeyStore('in a module', () => openFileKeyStore(freshFile(), { keyProvider: createMemoryKeyProvider() }))

test('with a key provider the file has a reference, and a key of before still works', async () => {
  const file = freshFile()
  const old = await openFileKeyStore(file).generate(signing)
  const keyProvider = createMemoryKeyProvider()
  const store = openFileKeyStore(file, { keyProvider })
  const made = await store.generate({ ...signing, stage: 'next', replaces: old.keyId })
  const records = (JSON.parse(readFileSync(file, 'utf8')) as { keys: object[] }).keys
  assert.deepEqual(
    records.map((record) => ['private_jwk' in record, 'reference' in record]),
    [
      [true, false],
      [false, true],
    ],
  )
  for (const { keyId } of [old, made])
    assert.equal((await signEs256(await store.privateKey(keyId), new Uint8Array(3))).length, 64)
  await assert.rejects(openFileKeyStore(file).privateKey(made.keyId), code('key_store_unavailable'))
  const other = createMemoryKeyProvider()
  await other.generate({ use: 'signing', label: 'somebody else' })
  const swapped = openFileKeyStore(file, { keyProvider: other })
  await assert.rejects(swapped.privateKey(made.keyId), code('key_store_unreadable'))
})

test('a module that is away is an error that may be retried, and works again when it is back', async () => {
  const keyProvider = createMemoryKeyProvider()
  const store = openFileKeyStore(freshFile(), { keyProvider })
  const { keyId } = await store.generate(signing)
  keyProvider.isAway = true
  const retryable = (error: unknown) => code('key_unavailable')(error) && (error as ExchangeError).retryable
  await assert.rejects(store.privateKey(keyId), retryable)
  keyProvider.isAway = false
  const handle = await store.privateKey(keyId)
  keyProvider.isAway = true
  await assert.rejects(signEs256(handle, new Uint8Array(3)), retryable)
  keyProvider.isAway = false
  assert.equal((await signEs256(handle, new Uint8Array(3))).length, 64)
})

test('keys outlive their process, in a file that only its owner can read', async () => {
  const file = freshFile()
  const made = await openFileKeyStore(file).generate(signing)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const again = openFileKeyStore(file)
  assert.deepEqual(await again.list(), [made])
  assert.equal((await signEs256(await again.privateKey(made.keyId), new Uint8Array(3))).length, 64)
})

test('a file that others can read is refused, however little they can', async () => {
  const file = freshFile()
  const store = openFileKeyStore(file)
  await store.generate(signing)
  for (const mode of [0o640, 0o604, 0o660, 0o666, 0o610]) {
    chmodSync(file, mode)
    await assert.rejects(openFileKeyStore(file).list(), code('key_store_exposed'))
    await assert.rejects(store.setStages({}), code('key_store_exposed'))
  }
  chmodSync(file, 0o600)
  assert.equal((await store.list()).length, 1)
})

test('with a passphrase the file shows nothing, not even public parts, and opens with nothing else', async () => {
  const file = freshFile()
  const { keyId, publicJwk } = await openFileKeyStore(file, { passphrase, cost }).generate(signing)
  const text = readFileSync(file, 'utf8')
  for (const secret of [keyId, publicJwk.x, 'signing', passphrase]) assert.ok(!text.includes(secret))
  assert.equal((await openFileKeyStore(file, { passphrase, cost }).list())[0]?.keyId, keyId)
  // The cost is the file's, whatever a later caller prefers.
  assert.equal((await openFileKeyStore(file, { passphrase }).list()).length, 1)
  for (const wrong of [{}, { passphrase: 'correct horse' }, { passphrase: `${passphrase} ` }]) {
    await assert.rejects(openFileKeyStore(file, wrong).list(), code('key_store_locked'))
    await assert.rejects(openFileKeyStore(file, wrong).generate(signing), code('key_store_locked'))
  }
  assert.throws(() => openFileKeyStore(file, { passphrase: '' }), code('input_invalid'))
})

test('a locked file that was changed in any part does not open', async () => {
  const file = freshFile()
  await openFileKeyStore(file, { passphrase, cost }).generate(signing)
  const original = JSON.parse(readFileSync(file, 'utf8')) as { locked: Record<string, string | number> }
  const altered: Record<string, string | number> = {
    n: 2_048,
    r: 9,
    p: 2,
    salt: flipped(original.locked['salt']),
    iv: flipped(original.locked['iv']),
    tag: flipped(original.locked['tag']),
    ciphertext: flipped(original.locked['ciphertext']),
  }
  for (const [member, value] of Object.entries(altered)) {
    write(file, { ...original, locked: { ...original.locked, [member]: value } })
    const store = openFileKeyStore(file, { passphrase, cost })
    await assert.rejects(store.list(), code('key_store_locked'), member)
  }
  write(file, { ...original, locked: { ...original.locked, n: 2 ** 30 } })
  await assert.rejects(openFileKeyStore(file, { passphrase }).list(), code('key_store_unreadable'))
})

test('an open file is not taken where a locked one is expected', async () => {
  const file = freshFile()
  await openFileKeyStore(file).generate(signing)
  await assert.rejects(openFileKeyStore(file, { passphrase, cost }).list(), code('key_store_unreadable'))
})

test('a damaged file is refused and left alone, and no error shows what is in it', async () => {
  const file = freshFile()
  await openFileKeyStore(file).generate(signing)
  const text = readFileSync(file, 'utf8')
  const d = /"d": "([^"]+)"/.exec(text)?.[1] ?? ''
  assert.equal(d.length, 43)
  const damaged = [
    '',
    text.slice(0, -20),
    text.replace('"version": 1', '"version": 2'),
    text.replace('"keys"', '"keys": [], "keys"'),
    text.replace('"role"', '"roles"'),
    text.replace(d, ''),
  ]
  for (const content of damaged) {
    writeFileSync(file, content)
    for (const attempt of [
      () => openFileKeyStore(file).list(),
      () => openFileKeyStore(file).generate(signing),
    ]) {
      await assert.rejects(attempt(), (error: Error) => {
        code('key_store_unreadable')(error)
        return !`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`.includes(d)
      })
    }
    assert.equal(readFileSync(file, 'utf8'), content)
  }
  const mismatched = text.replace(d, `${d.slice(0, -2)}${d.endsWith('AA') ? 'BA' : 'AA'}`)
  writeFileSync(file, mismatched)
  const store = openFileKeyStore(file)
  const [key] = await store.list()
  await assert.rejects(store.privateKey(key?.keyId ?? ''), code('key_store_unreadable'))
})

test('what a crash can leave beside the file changes nothing and is swept up by the next change', async () => {
  const file = freshFile()
  const store = openFileKeyStore(file)
  const kept = await store.generate(signing)
  const text = readFileSync(file, 'utf8')
  for (const unfinished of ['', text.slice(0, 40), text.replace('current', 'previous')]) {
    writeFileSync(`${file}.new`, unfinished, { mode: 0o644 })
    assert.deepEqual(await openFileKeyStore(file).list(), [kept])
    await openFileKeyStore(file).setStages({ [kept.keyId]: 'current' })
    assert.ok(!existsSync(`${file}.new`))
    assert.equal(statSync(file).mode & 0o777, 0o600)
  }
})

test('killed at any moment, a writer loses no confirmed key', async () => {
  for (const secret of [undefined, passphrase]) {
    const file = freshFile()
    const promised: string[] = []
    for (const afterKeys of secret === undefined ? [1, 9] : [4])
      promised.push(...(await writeUntilKilled(file, afterKeys, secret)))
    const store = openFileKeyStore(file, secret === undefined ? {} : { passphrase: secret })
    const kept = new Set((await store.list()).map(({ keyId }) => keyId))
    assert.ok(promised.length >= 4)
    assert.deepEqual(
      promised.filter((keyId) => !kept.has(keyId)),
      [],
    )
    for (const keyId of kept) await store.privateKey(keyId)
    await store.generate(signing)
  }
})

test('two processes that write at once lose nothing to each other', async () => {
  const file = freshFile()
  const promised = (await Promise.all([writeUntilKilled(file, 8), writeUntilKilled(file, 8)])).flat()
  const kept = new Set((await openFileKeyStore(file).list()).map(({ keyId }) => keyId))
  assert.deepEqual(
    promised.filter((keyId) => !kept.has(keyId)),
    [],
  )
})

test('a lock is waited for, up to its limit', async () => {
  const lockFile = join(folder, 'lock')
  const order: string[] = []
  await withFileLock(lockFile, async () => {
    await assert.rejects(
      withFileLock(lockFile, async () => order.push('never'), { waitMs: 40 }),
      code('timed_out'),
    )
    order.push('first')
  })
  await withFileLock(lockFile, async () => order.push('second'))
  assert.deepEqual(order, ['first', 'second'])
})

test('a place that cannot be written says so', async () => {
  const store = openFileKeyStore(join(folder, 'missing', 'keys.json'))
  await assert.rejects(store.generate(signing), code('key_store_unavailable'))
})

/** The ids that a writing process was promised before it was killed. */
async function writeUntilKilled(file: string, afterKeys: number, secret?: string): Promise<string[]> {
  const script = new URL('./file-key-store-writer.fixture.ts', import.meta.url).pathname
  const child = spawn(
    process.execPath,
    ['-C', 'source', script, file, ...(secret === undefined ? [] : [secret])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.split('\n').length > afterKeys) child.kill('SIGKILL')
  })
  const [, signal] = (await once(child, 'close')) as [unknown, string]
  assert.equal(signal, 'SIGKILL')
  return said.split('\n').slice(0, -1)
}

function flipped(text: string | number | undefined): string {
  const [first = '', ...rest] = String(text)
  return (first === 'A' ? 'B' : 'A') + rest.join('')
}

function write(file: string, value: object): void {
  writeFileSync(file, JSON.stringify(value))
}
