import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { masterKeyFile, readConfig, withMasterKey, type Config } from './index.ts'

const masterKeyOf = (config: Config) => withMasterKey(config).masterKey

function dataFolder(): Disposable & { path: string } {
  const parent = mkdtempSync(join(tmpdir(), 'aex-key-'))
  return { path: join(parent, 'data'), [Symbol.dispose]: () => rmSync(parent, { recursive: true }) }
}

test('the embedded master key is generated once and readable by its owner only', () => {
  using data = dataFolder()
  const config = readConfig({ AEX_DATA_DIR: data.path })
  const key = masterKeyOf(config)
  assert.equal(key.length, 32)
  assert.deepEqual(masterKeyOf(config), key)
  assert.equal(statSync(masterKeyFile(data.path)).mode & 0o777, 0o600)
})

test('a missing, world-readable or damaged key is refused and never replaced', () => {
  using data = dataFolder()
  const config = readConfig({ AEX_DATA_DIR: data.path })
  const file = masterKeyFile(data.path)
  masterKeyOf(config)
  chmodSync(file, 0o644)
  assert.throws(() => masterKeyOf(config), /Others may read .*0600/u)
  chmodSync(file, 0o600)
  writeFileSync(file, 'short')
  assert.throws(() => masterKeyOf(config), /holds no usable key/u)
  rmSync(file)
  mkdirSync(join(data.path, 'postgres', 'cluster'), { recursive: true })
  assert.throws(() => masterKeyOf(config), /a key that is not there\. Put it back/u)
  assert.throws(() => readFileSync(file), /ENOENT/u)
})

test('a key file holds the current key and, during a rotation, the previous one', () => {
  using data = dataFolder()
  mkdirSync(data.path, { recursive: true })
  const file = join(data.path, 'keys')
  const [next, former] = ['01'.repeat(32), '02'.repeat(32)]
  writeFileSync(file, `${next}\n${former}\n`)
  const env = { AEX_DATA_DIR: data.path, AEX_MASTER_KEY_FILE: file, DATABASE_URL: 'postgres://h/d' }
  const config = readConfig(env)
  assert.deepEqual(config.masterKey, new Uint8Array(32).fill(1))
  assert.deepEqual(config.previousMasterKey, new Uint8Array(32).fill(2))
  // A worker that is started later reads the file as it is then.
  writeFileSync(file, `${former}\n`)
  const later = withMasterKey(config)
  assert.deepEqual([later.masterKey, later.previousMasterKey], [new Uint8Array(32).fill(2), undefined])
  writeFileSync(file, `${next}\n${former}\n${next}\n`)
  assert.throws(() => readConfig(env), /more than two keys/u)
  writeFileSync(file, next)
  assert.throws(() => readConfig({ ...env, AEX_MASTER_KEY: former }), /either AEX_MASTER_KEY or/u)
})

test('a configured key takes precedence and creates no directory', () => {
  using data = dataFolder()
  const config = readConfig({ AEX_DATA_DIR: data.path, AEX_MASTER_KEY: '01'.repeat(32) })
  assert.deepEqual(masterKeyOf(config), new Uint8Array(32).fill(1))
  assert.throws(() => statSync(data.path), /ENOENT/u)
})
