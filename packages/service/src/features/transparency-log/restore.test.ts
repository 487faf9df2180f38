import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  decodeBundle,
  openCheckpoint,
  parseVerifierKey,
  tilePath,
  verifyConsistency,
  type TileName,
} from '@agent-exchange/log'
import {
  sendPackage,
  startWorld,
  testDatabase,
  testServerUrl,
  type Organization,
  type World,
} from '@agent-exchange/testkit'
import { openDatabase } from '../../db/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-log-'))
after(() => rmSync(folder, { recursive: true }))
const [data, mirror] = [join(folder, 'data'), join(folder, 'mirror')]
mkdirSync(data)
const masterKey = randomBytes(32)
const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

const start = (databaseUrl: string, role: 'all' | 'api') =>
  startWorld({ profile, config: { role, databaseUrl, dataDirectory: data, masterKey } })

async function exchanged(world: World): Promise<Organization> {
  const [seats, cars] = [await world.organization('seats'), await world.organization('cars')]
  await sendPackage(seats, cars)
  return seats
}

async function statusWhen(world: World, isThere: (status: Record<string, unknown>) => boolean) {
  for (let tries = 0; tries < 300; tries++) {
    const { body } = await world.operate('GET', '/transparency-log')
    if (isThere(body)) return body
    await sleep(50)
  }
  throw new Error('the log did not reach the expected state')
}
const isPublished = (status: Record<string, unknown>) =>
  status['state'] === 'running' &&
  status['pending_leaves'] === 0 &&
  status['published_size'] === status['size']

async function fetched(by: Organization, path: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${await by.token()}` }
  const answer = await fetch(`${by.world.url}/log/${path}`, { headers })
  assert.equal(answer.status, 200, path)
  return Buffer.from(await answer.arrayBuffer())
}

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

const recover = (world: World, mirror_url = pathToFileURL(mirror).href) =>
  world.operate('POST', '/transparency-log/recover', { mirror_url, reason: 'restored' })

test('[AUD-01] a database restored from an older copy never signs a fork and continues from a mirror', async () => {
  await using cleanup = new AsyncDisposableStack()
  const live = cleanup.use(await testDatabase())
  const copyName = `aex_test_${randomBytes(8).toString('hex')}`
  const admin = openDatabase({
    target: await testServerUrl(),
    maximumConnections: 2,
    applicationName: 'restore test',
  })
  cleanup.defer(() => admin.end({ timeout: 1 }))

  {
    await using world = await start(live.url, 'all')
    await exchanged(world)
    await statusWhen(world, isPublished)
  }
  {
    // Nobody sequences: these leaves still wait when the copy is made.
    await using world = await start(live.url, 'api')
    await exchanged(world)
  }
  await admin.unsafe(`create database ${copyName} template ${new URL(live.url).pathname.slice(1)}`)
  cleanup.defer(async () => void (await admin.unsafe(`drop database ${copyName} with (force)`)))
  let last: { note: string; key: string; size: number }
  {
    await using world = await start(live.url, 'all')
    const seats = await exchanged(world)
    const { published_size } = await statusWhen(world, isPublished)
    const size = Number(published_size)
    await copyLog(seats, size)
    const key = ((await seats.get('/log/key')).body['verifier_keys'] as string[])[0] ?? ''
    last = { note: (await fetched(seats, 'checkpoint')).toString(), key, size }
  }

  const copyUrl = live.url.replace(/\/[^/]*$/u, `/${copyName}`)
  await using world = await start(copyUrl, 'all')
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
  const bundle = join(mirror, tilePath({ level: 'entries', index: 0, width: last.size }))
  const bytes = readFileSync(bundle)
  writeFileSync(bundle, bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1))
  const refused = await recover(world)
  assert.equal(refused.status, 422, JSON.stringify(refused.body))
  writeFileSync(bundle, bytes)

  const recovered = await recover(world)
  assert.equal(recovered.status, 200, JSON.stringify(recovered.body))
  assert.equal(recovered.body['size'], last.size)
  assert.ok(Number(recovered.body['matched_batches']) > 0)
  const status = await statusWhen(world, isPublished)
  assert.ok(Number(status['size']) > last.size)

  const key = parseVerifierKey(last.key)
  const old = await openCheckpoint(last.note, [key])
  const { checkpoint, proof } = (await seats.get(`/log/consistency?from=${last.size}`)).body as {
    checkpoint: string
    proof: string[]
  }
  const now = await openCheckpoint(checkpoint, [key])
  verifyConsistency({
    oldSize: old.size,
    oldRoot: old.root,
    newSize: now.size,
    newRoot: now.root,
    proof: proof.map((hash) => Buffer.from(hash, 'base64')),
  })
  const entries = decodeBundle(
    await fetched(seats, tilePath({ level: 'entries', index: 0, width: now.size })),
    now.size,
  )
  const labels = entries.map((entry) => Buffer.from(entry.subarray(0, 32)).toString('hex'))
  assert.equal(new Set(labels).size, labels.length)
  const again = await recover(world)
  assert.equal(again.status, 409)
})
