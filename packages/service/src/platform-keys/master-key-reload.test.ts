import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { testDatabase } from '@agent-exchange/testkit'
import { inTransaction, openDatabase } from '@agent-exchange/database'
import { systemClock } from '@agent-exchange/server/clock'
import { masterKeyReload } from '@agent-exchange/server/master-key-reload'
import { fingerprint, knownKeys } from '@agent-exchange/server/master-key'
import { randomId } from '../kernel/ids.ts'
import { missingKeyId } from './platform-secrets.ts'
import { platformIdentity } from '../features/agents/platform-identity.ts'
import { openPlatformKeys } from './platform-keys.ts'
import { rotateMasterKey } from './rotate-master-key.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())

test('a key file is read again, and a file without the key that the database needs is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-keys-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const db = openDatabase({
    target: cleanup.use(await testDatabase()).url,
    maximumConnections: 4,
    applicationName: 'test',
  })
  cleanup.defer(() => db.end())
  const [former, next] = [randomBytes(32), randomBytes(32)]
  const file = join(folder, 'master-key')
  const write = (...keys: Buffer[]) =>
    writeFileSync(file, keys.map((key) => `${key.toString('hex')}\n`).join(''))
  write(former)
  const logged: string[] = []
  const say = (fields: object, text = '') => void logged.push(`${JSON.stringify(fields)} ${text}`)
  const { keys, tasks } = masterKeyReload({
    config: { masterKey: former, masterKeyFile: file },
    missing: (ids) => missingKeyId(db, ids),
    log: { info: say, error: say },
  })
  const reload = () => tasks[0]?.run(new AbortController().signal)
  const known = () => knownKeys(keys()).map(fingerprint)
  await openPlatformKeys({
    db,
    masterKeys: keys,
    profile: DEFAULT_PROFILE,
    clock: systemClock,
    newId: randomId,
    identity: platformIdentity,
  })

  write(next)
  await reload()
  await reload()
  assert.deepEqual(known(), [fingerprint(former)])
  assert.equal(logged.length, 1, 'a refusal is logged once')
  assert.match(logged[0] ?? '', new RegExp(`lacks the key with fingerprint ${fingerprint(former)}`, 'u'))

  write(next, former)
  await reload()
  assert.deepEqual(known(), [fingerprint(next), fingerprint(former)])
  await inTransaction(db, (tx) => rotateMasterKey(tx, keys(), systemClock.now()))
  write(next)
  await reload()
  assert.deepEqual(known(), [fingerprint(next)])
  writeFileSync(file, 'damaged')
  await reload()
  rmSync(file)
  await reload()
  assert.deepEqual(known(), [fingerprint(next)])
  const all = logged.join('\n')
  for (const key of [former, next]) assert.ok(!all.includes(key.toString('hex')))
  assert.ok(!all.includes('damaged'))
})

test('keys from variables are never replaced', () => {
  const masterKey = randomBytes(32)
  const silent = { info: () => undefined, error: () => undefined }
  const { keys, tasks } = masterKeyReload({
    config: { masterKey, previousMasterKey: undefined },
    missing: async () => undefined,
    log: silent,
  })
  assert.equal(tasks.length, 0)
  assert.deepEqual(keys().current, masterKey)
})
