import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sendPackage, startWorld, testDatabase, type World } from '@agent-exchange/testkit'
import { fingerprint } from '@agent-exchange/server/master-key'
import type { Config } from '../config/index.ts'

const data = mkdtempSync(join(tmpdir(), 'aex-master-'))
const cleanup = new AsyncDisposableStack()
cleanup.defer(() => rmSync(data, { recursive: true }))
after(() => cleanup.disposeAsync())

const [former, next] = [randomBytes(32), randomBytes(32)]

async function exchange() {
  const { url: databaseUrl } = cleanup.use(await testDatabase())
  return (config: Partial<Config>) => startWorld({ config: { databaseUrl, dataDirectory: data, ...config } })
}

const rotate = (world: World) => world.operate('POST', '/master-key/rotate', { reason: 'yearly' })

test('the master key is rotated while processes serve, and only when all of them have the new key', async () => {
  const start = await exchange()
  const formerOnly = await start({ masterKey: former })
  await formerOnly.organization('acme')
  await formerOnly.organization('beta')
  const page = await formerOnly.operate('GET', '/organizations?limit=1')
  const cursor = String(page.body['next_cursor'])
  await using first = await start({ masterKey: next, previousMasterKey: former })
  const refused = await rotate(first)
  assert.equal(refused.status, 409, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /processes_without_the_new_master_key/u)
  assert.match(JSON.stringify(refused.body), new RegExp(fingerprint(next), 'u'))
  await formerOnly[Symbol.asyncDispose]()

  await using second = await start({ masterKey: next, previousMasterKey: former })
  const rotated = await rotate(first)
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
  assert.deepEqual(
    [rotated.body['master_key_id'], rotated.body['former_master_key_id']],
    [fingerprint(next), fingerprint(former)],
  )
  assert.equal((await rotate(second)).status, 409, 'a second rotation to the same key is refused')

  // The other process opens keys that it did not have open: a new token key, and a package that it signs for.
  await first.operate('POST', '/keys/rotate', { purpose: 'token' })
  await sendPackage(await second.organization('seats'), await second.organization('cars'))
  const [entry] = (await first.operate('GET', '/log?action=master_key.rotate')).body['items'] as object[]
  assert.ok(entry)
  assert.ok(!JSON.stringify(entry).includes(next.toString('base64url')))

  await using nextOnly = await start({ masterKey: next })
  const rest = await nextOnly.operate('GET', `/organizations?limit=1&after=${encodeURIComponent(cursor)}`)
  assert.equal(rest.status, 200, 'a cursor from before the rotation is valid')
  await assert.rejects(start({ masterKey: former }), /needs the master key with fingerprint/u)
})
