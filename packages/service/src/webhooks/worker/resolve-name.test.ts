import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startNameServer } from './name-server.fixture.ts'
import { createNameResolver } from './resolve-name.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-hosts-'))
after(() => rmSync(folder, { recursive: true }))

const neverAsked = async (name: string) => assert.fail(`getaddrinfo was asked for ${name}`)

test('[EVT-08] names whose server is silent delay no other name and hold no thread', async () => {
  await using server = await startNameServer((name) => (name.startsWith('silent') ? 'silent' : '192.0.2.7'))
  const resolve = createNameResolver({
    servers: [server.address],
    timeoutMs: 500,
    systemLookup: neverAsked,
  })
  let ended = 0
  const silent = Array.from({ length: 40 }, (_, index) =>
    resolve(`silent${index}.attacker.example`).finally(() => (ended += 1)),
  )
  const outcomes = Promise.allSettled(silent)
  assert.deepEqual(await resolve('receiver.example'), ['192.0.2.7'])
  assert.equal(ended, 0)
  for (const outcome of await outcomes) {
    assert.equal(outcome.status === 'rejected' && Reflect.get(Object(outcome.reason), 'code'), 'ETIMEOUT')
  }
})

test('a name that DNS does not know goes to the resolver of the system, one at a time', async () => {
  await using server = await startNameServer((name) => (name.endsWith('.corp') ? 'unknown' : '192.0.2.7'))
  const asked: string[] = []
  const first = Promise.withResolvers<readonly string[]>()
  const resolve = createNameResolver({
    servers: [server.address],
    systemLookup: async (name) => {
      asked.push(name)
      return name === 'stuck.corp' ? first.promise : ['10.0.0.1']
    },
  })
  const stuck = resolve('stuck.corp')
  while (asked.length === 0) await new Promise(setImmediate)
  const waiting = resolve('other.corp')
  assert.deepEqual(await resolve('receiver.example'), ['192.0.2.7'])
  assert.deepEqual(asked, ['stuck.corp'])
  first.resolve(['10.0.0.2'])
  assert.deepEqual([await stuck, await waiting], [['10.0.0.2'], ['10.0.0.1']])
})

test('a name that could not be resolved is not asked for again at once', async () => {
  await using server = await startNameServer(() => 'unknown')
  let asked = 0
  const resolve = createNameResolver({
    servers: [server.address],
    systemLookup: async () => {
      asked += 1
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    },
  })
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await assert.rejects(resolve('nobody.example'), { code: 'ENOTFOUND' })
  }
  assert.equal(asked, 1)
})

test('the hosts file precedes DNS and is read again when it changes', async () => {
  const hostsFile = join(folder, 'hosts')
  await using server = await startNameServer(() => '192.0.2.7')
  const resolve = createNameResolver({ servers: [server.address], hostsFile, systemLookup: neverAsked })
  assert.deepEqual(await resolve('receiver.test'), ['192.0.2.7'])
  writeFileSync(hostsFile, '# local\n127.0.0.1 localhost Receiver.test # tests\n::1\tlocalhost\nx y\n')
  assert.deepEqual(await resolve('receiver.test'), ['127.0.0.1'])
  assert.deepEqual(await resolve('LOCALHOST'), ['127.0.0.1', '::1'])
  writeFileSync(hostsFile, '')
  assert.deepEqual(await resolve('receiver.test'), ['192.0.2.7'])
})

test('localhost and names of this machine resolve with the defaults', async () => {
  const addresses = await createNameResolver()('localhost')
  assert.ok(addresses.length > 0)
  for (const address of addresses) assert.ok(address === '::1' || address.startsWith('127.'), address)
})
