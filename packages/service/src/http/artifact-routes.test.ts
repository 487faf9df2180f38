import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startWorld, untilBlocked } from '@agent-exchange/testkit'

const PER_ADDRESS = 8
const world = await startWorld({
  profile: { 'O-13': { artifact_downloads_per_address: PER_ADDRESS, refused_tokens_per_second: 1 } },
})
const sockets: Socket[] = []
after(async () => {
  for (const socket of sockets) socket.destroy()
  await world[Symbol.asyncDispose]()
})

/** What the driver has read and dropped is still counted until it is collected. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** Stores an artifact as a publication does, and returns its address. */
async function store(content: Buffer): Promise<string> {
  const digest = createHash('sha256').update(content)
  const name = digest.copy().digest('hex')
  await world.sql`
    insert into skill_artifact (digest, content, stored_at)
    values (${`sha-256=:${digest.digest('base64')}:`}, ${content}, now())`
  return `/skills/artifacts/${name}`
}

/** Asks for an artifact and reads no more than the status. The place of an earlier download is freed a moment after it. */
async function startReading(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await once(socket, 'readable')
    if (String(socket.read(12)) === 'HTTP/1.1 200') return socket
    socket.destroy()
    await sleep(10)
  }
}

const head = (path: string) => fetch(world.url + path, { method: 'HEAD' })

test('[ID-10] an artifact comes back byte for byte, HEAD has its length, and both are read from the database once', async () => {
  const content = randomBytes(2_500_001)
  const path = await store(content)
  assert.equal((await head(path)).headers.get('content-length'), String(content.length))
  const read = async () => Buffer.from(await (await fetch(world.url + path)).arrayBuffer())
  assert.ok(content.equals(await read()))
  await world.sql.begin(async (tx) => {
    await tx`lock table skill_artifact in access exclusive mode`
    const again = await head(path)
    assert.deepEqual(
      [again.status, again.headers.get('content-length'), again.headers.get('cache-control')],
      [200, String(content.length), 'public, max-age=31536000, immutable'],
    )
    assert.ok(content.equals(await read()))
  })
  assert.equal((await head(path.replace(/.$/u, 'x'))).status, 404)
})

test('[ID-10][O-13] requests for artifacts leave connections to the database for others, and one address has a limit', async () => {
  const other = await world.organization('other')
  const path = await store(randomBytes(1_000))
  const pending: Promise<Response>[] = []
  await world.sql.begin(async (tx) => {
    // Each query for an artifact waits for this lock with its connection.
    await tx`lock table skill_artifact in access exclusive mode`
    for (let i = 0; i < 20; i++) pending.push(head(path), fetch(world.url + path))
    await untilBlocked(world, 1)
    const signal = AbortSignal.timeout(4_000)
    assert.equal((await other.get(`/v1/agents/${other.agentId}`, { signal })).status, 200)
    const reason = 'Test'
    const suspended = world.operate('POST', `/organizations/${other.organizationId}/suspend`, { reason })
    assert.equal((await suspended).status, 200)
  })
  const answers = await Promise.all(pending)
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
    [PER_ADDRESS, pending.length - PER_ADDRESS],
  )
  const refused = answers.find(({ status }, index) => status === 429 && index % 2 === 1)
  assert.ok(refused)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.match(await refused.text(), /"rate_limited"/u)
})

test('[ID-10][O-14] readers that do not read share one copy and hold no connection; their places are freed with them', async () => {
  const LARGE_BYTES = 12_000_000
  const path = await store(randomBytes(LARGE_BYTES))
  const before = heldBytes()
  const readers = await Promise.all(Array.from({ length: PER_ADDRESS }, () => startReading(path)))
  const held = heldBytes() - before
  assert.ok(held < 3 * LARGE_BYTES, `${held} bytes are held for ${PER_ADDRESS} readers`)
  assert.equal((await head(path)).status, 429)
  // Until their receive buffers are full, parts are still on their way.
  const active = () => world.sql`
    select from pg_stat_activity
    where datname = current_database() and state <> 'idle' and query like '%substring(content%'
      and pid <> pg_backend_pid()`
  let quiet = 0
  for (let tries = 0; tries < 1_000 && quiet < 20; tries++) {
    quiet = (await active()).length === 0 ? quiet + 1 : 0
    await sleep(5)
  }
  assert.equal(quiet, 20)
  for (const reader of readers) reader.destroy()
  // A disconnect is noticed a moment later.
  for (let tries = 0; tries < 500 && (await head(path)).status !== 200; tries++) await sleep(10)
  assert.equal((await head(path)).status, 200)
})

test('[ID-10][O-13] an address with many refused downloads gets its answers late', async () => {
  const path = await store(randomBytes(12_000_000))
  const readers = await Promise.all(Array.from({ length: PER_ADDRESS }, () => startReading(path)))
  const waits = await Promise.all(
    // A burst of ten is answered at once, and one more for each second that this takes.
    Array.from({ length: 24 }, async () => {
      const sent = performance.now()
      assert.equal((await head(path)).status, 429)
      return performance.now() - sent
    }),
  )
  assert.ok(waits.filter((wait) => wait > 900).length >= 2, waits.join(', '))
  for (const reader of readers) reader.destroy()
})
