import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  decodeBundle,
  openCheckpoint,
  originLeaf,
  parseVerifierKey,
  readEdge,
  tilePath,
  verifyConsistency,
  type TileName,
} from '@agent-exchange/log'
import {
  organizations,
  sendPackage,
  startWorld,
  testDatabase,
  testServerUrl,
  type Organization,
  type World,
} from '@agent-exchange/testkit'
import { type Database, openDatabase } from '@agent-exchange/database'
import { appendPending } from './append-to-tree.ts'
import { publishedStatus, QUICK_LOG, statusWhen } from './quick-log.fixture.ts'
import { readLogState } from './log-state-store.ts'
import { tileReader } from './tile-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-log-'))
const cleanup = new AsyncDisposableStack()
cleanup.defer(() => rmSync(folder, { recursive: true }))
after(() => cleanup.disposeAsync())
const [data, mirror] = [join(folder, 'data'), join(folder, 'mirror')]
mkdirSync(data)
const masterKey = randomBytes(32)

const start = (databaseUrl: string, role: 'all' | 'api') =>
  startWorld({ profile: QUICK_LOG, config: { role, databaseUrl, dataDirectory: data, masterKey } })

async function exchanged(world: World): Promise<Organization> {
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  await sendPackage(seats, cars)
  return seats
}

async function fetched(by: Organization, path: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${await by.token()}` }
  const answer = await fetch(`${by.world.url}/log/${path}`, { headers })
  assert.equal(answer.status, 200, path)
  return Buffer.from(await answer.arrayBuffer())
}

const keysOf = async (by: Organization) =>
  ((await by.get('/log/key')).body['verifier_keys'] as string[]).map(parseVerifierKey)
const bundlePath = (size: number) => tilePath({ level: 'entries', index: 0, width: size })
const entriesOf = async (by: Organization, size: number) =>
  decodeBundle(await fetched(by, bundlePath(size)), size)

/** All files of a log of fewer than 256 entries. */
async function copyLog(by: Organization, size: number): Promise<void> {
  const names: TileName[] = [
    { level: 'entries', index: 0, width: size },
    { level: 0, index: 0, width: size },
  ]
  for (const path of ['checkpoint', ...names.map(tilePath)]) {
    mkdirSync(dirname(join(mirror, path)), { recursive: true })
    writeFileSync(join(mirror, path), await fetched(by, path))
  }
}

/** A mirror that asks for a token. */
async function startMirror(token: string): Promise<string> {
  const server = createServer(({ headers, url }, response) => {
    const isAllowed = headers.authorization === `Bearer ${token}`
    response.writeHead(isAllowed ? 200 : 401).end(isAllowed ? readFileSync(join(mirror, url ?? '')) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.defer(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const admin = openDatabase({
  target: await testServerUrl(),
  maximumConnections: 2,
  applicationName: 'restore test',
})
cleanup.defer(() => admin.end({ timeout: 1 }))

async function copyDatabase(url: string): Promise<string> {
  const name = `aex_test_${randomBytes(8).toString('hex')}`
  await admin.unsafe(`create database ${name} template ${new URL(url).pathname.slice(1)}`)
  cleanup.defer(async () => void (await admin.unsafe(`drop database ${name} with (force)`)))
  return url.replace(/\/[^/]*$/u, `/${name}`)
}

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ target: url, maximumConnections: 2, applicationName: 'restore test' })
  try {
    return await work(db)
  } finally {
    await db.end({ timeout: 1 })
  }
}

/** Appends what waits and a leaf of nobody: a tail that no checkpoint covers and that the live log does not have. */
const appendUnsigned = (url: string) =>
  withDatabase(url, async (db) => {
    await db`insert into log_pending (batch_id, secret, leaves)
      values (${randomBytes(16)}, ${randomBytes(32)}, ${randomBytes(64)})`
    const { size } = await readLogState(db)
    await appendPending(db, await readEdge(size, tileReader(db)))
  })

// A log, two older copies of its database, and a mirror of what was published afterwards.
const live = cleanup.use(await testDatabase())
{
  await using world = await start(live.url, 'all')
  await exchanged(world)
  await publishedStatus(world)
}
{
  // Nobody sequences: these leaves still wait when the copies are made.
  await using world = await start(live.url, 'api')
  await exchanged(world)
}
const [copy, secondCopy] = [await copyDatabase(live.url), await copyDatabase(live.url)]
const last = await (async () => {
  await using world = await start(live.url, 'all')
  const seats = await exchanged(world)
  const size = Number((await publishedStatus(world))['published_size'])
  await copyLog(seats, size)
  return { note: (await fetched(seats, 'checkpoint')).toString(), keys: await keysOf(seats), size }
})()

test('[AUD-01] a database restored from an older copy never signs a fork and continues from a mirror', async () => {
  await appendUnsigned(copy)
  await using world = await start(copy, 'all')
  const recover = (mirror_url: string, mirror_token?: string) =>
    world.operate('POST', '/transparency-log/recover', {
      mirror_url,
      ...(mirror_token !== undefined && { mirror_token }),
      reason: 'restored',
    })
  const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
  assert.equal((refusing['refusal'] as { reason: string }).reason, 'behind_checkpoint_file')
  assert.match(String(refusing['what_to_do']), /aex log recover/u)

  // Packages are accepted; their proofs wait, and nothing is signed.
  const seats = await exchanged(world)
  await sleep(500)
  const waiting = await world.operate('GET', '/transparency-log')
  assert.equal(waiting.body['size'], refusing['size'])
  assert.ok(Number(waiting.body['pending_leaves']) > 0)

  // A mirror with one flipped bit changes nothing.
  const bundle = join(mirror, bundlePath(last.size))
  const bytes = readFileSync(bundle)
  writeFileSync(bundle, bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1))
  const refused = await recover(pathToFileURL(mirror).href)
  assert.equal(refused.status, 422, JSON.stringify(refused.body))
  assert.equal((await world.operate('GET', '/transparency-log')).body['size'], refusing['size'])
  writeFileSync(bundle, bytes)

  const address = await startMirror('mirror-secret')
  assert.equal((await recover(address)).status, 422)
  const cleartext = await recover('http://mirror.example/log', 'mirror-secret')
  assert.match(JSON.stringify(cleartext.body), /Use https for a mirror that needs a token/u)
  const recovered = await recover(address, 'mirror-secret')
  assert.equal(recovered.status, 200, JSON.stringify(recovered.body))
  assert.equal(recovered.body['size'], last.size)
  assert.ok(Number(recovered.body['truncated']) > 0, 'the tail that nobody signed was taken back')
  assert.ok(Number(recovered.body['matched_batches']) > 0)
  assert.ok(!world.logged.join('').includes('mirror-secret'))
  const { size } = await publishedStatus(world, (status) => Number(status['size']) > last.size)

  const old = await openCheckpoint(last.note, last.keys)
  const { checkpoint, proof } = (await seats.get(`/log/consistency?from=${last.size}`)).body as {
    checkpoint: string
    proof: string[]
  }
  const now = await openCheckpoint(checkpoint, last.keys)
  verifyConsistency({
    oldSize: old.size,
    oldRoot: old.root,
    newSize: now.size,
    newRoot: now.root,
    proof: proof.map((hash) => Buffer.from(hash, 'base64')),
  })
  const entries = await entriesOf(seats, Number(size))
  const labels = entries.map((entry) => Buffer.from(entry.subarray(0, 32)).toString('hex'))
  assert.equal(new Set(labels).size, labels.length)
  const { leaves, records } = await withDatabase(copy, async (db) => {
    const [row] = await db<{ leaves: number; records: number }[]>`
      select (select sum(leaf_count) from log_batch)::integer as leaves,
        ((select count(*) from audit_record) + (select count(*) from agent_key_event))::integer as records`
    return row ?? { leaves: 0, records: 0 }
  })
  assert.equal(
    leaves,
    records + 1,
    'every record and key event has its leaf, and the leaf of nobody has a batch',
  )
  assert.equal((await recover(address, 'mirror-secret')).status, 409)
})

test('[AUD-03] without a mirror a new origin commits to the last checkpoint of the old log', async () => {
  const origin = 'restored.example/log-2'
  const oldOrigin = last.keys[0]?.name ?? ''
  const begin = (world: World, body: object) =>
    world.operate('POST', '/transparency-log/new-origin', { reason: 'no copy exists', ...body })
  {
    await using world = await start(secondCopy, 'all')
    await statusWhen(world, ({ state }) => state === 'refusing')
    assert.equal((await begin(world, { new_origin: oldOrigin })).status, 422)
    assert.equal((await begin(world, { new_origin: 'white space' })).status, 422)
    const forged = last.note.replace(/\n\d+\n/u, '\n9999\n')
    assert.equal((await begin(world, { new_origin: origin, checkpoint: forged })).status, 422)
    const begun = await begin(world, { new_origin: origin, checkpoint: last.note })
    assert.equal(begun.status, 200, JSON.stringify(begun.body))
    assert.equal(begun.body['previous_size'], last.size)

    const status = await publishedStatus(world, (each) => Number(each['published_size']) > 0)
    assert.equal(status['origin'], origin)
    const seats = await exchanged(world)
    const described = (await seats.get('/log/key')).body as {
      verifier_keys: string[]
      statement: { previous: { origin: string; checkpoint: string } }
    }
    assert.deepEqual(described.statement.previous, { origin: oldOrigin, checkpoint: last.note })
    const note = (await fetched(seats, 'checkpoint')).toString()
    await assert.rejects(openCheckpoint(note, last.keys), 'the old key signs nothing any more')
    const keys = described.verifier_keys.map(parseVerifierKey)
    const { size } = await openCheckpoint(note, keys)
    const leaf = Buffer.from(originLeaf(origin, await openCheckpoint(last.note, last.keys)))
    assert.ok((await entriesOf(seats, size)).some((entry) => leaf.equals(Buffer.from(entry))))
    await publishedStatus(world)
  }
  {
    await using world = await start(secondCopy, 'all')
    await exchanged(world)
    assert.equal((await publishedStatus(world))['origin'], origin)
    // Back to the old name, or to one that was used: never.
    for (const new_origin of [oldOrigin, origin]) {
      const answer = await begin(world, { new_origin })
      assert.match(JSON.stringify(answer.body), /This name was used before/u)
    }
  }
  // A database from before the change of the name is refused on this machine.
  await using world = await start(live.url, 'all')
  const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
  assert.equal((refusing['refusal'] as { reason: string }).reason, 'other_origin')
})
