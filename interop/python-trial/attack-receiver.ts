import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import {
  ALTERED,
  DIRECTORY,
  good,
  key,
  others,
  withHeader,
} from '../../packages/sdk/src/receive/altered-deliveries.fixture.ts'
import {
  envelope,
  NOW,
  ORGANIZATION,
  signedDelivery,
  type Signed,
} from '../../packages/sdk/src/receive/delivery.fixture.ts'
import { PACKAGES, type Place } from './place.ts'

const START_MS = 30_000
/** The events of the good deliveries; no attack may add one. */
const KEPT = ['evt_1', 'evt_9']

/** Every altered delivery of the SDK's tests, sent over HTTP to the Python receiver. */
export async function attackReceiver({ folder, python, report }: Place): Promise<void> {
  const dir = join(folder, 'receiver')
  await createAgentFolder(dir, { identity: { organizationId: ORGANIZATION, agentId: 'agent_cars' } })
  const keys = join(folder, 'keys.json')
  writeFileSync(keys, JSON.stringify(DIRECTORY))
  await using receiver = await startReceiver(python, [
    '--dir',
    dir,
    '--port',
    '0',
    '--keys',
    keys,
    '--now',
    NOW.toISOString(),
  ])
  const stored = () => storedIn(join(dir, 'python-inbox.db'))
  await report.step('it stores a good event once, and events of a retiring key', async () => {
    assert.equal(await deliver(receiver.port, good), 204)
    const again = await signedDelivery(key, envelope(1), { attempt: 2 })
    assert.equal(await deliver(receiver.port, again), 204)
    assert.equal(await deliver(receiver.port, await signedDelivery(others.retiring, envelope(9))), 204)
    assert.deepEqual(stored(), KEPT)
  })
  for (const [name, status, , altered] of ALTERED) {
    await report.step(name, async () => {
      assert.equal(await deliver(receiver.port, await altered), status)
      assert.deepEqual(stored(), KEPT)
    })
  }
  await report.step('an event of another organization', async () => {
    const foreign = await signedDelivery(key, envelope(1, { organization_id: 'org_other' }))
    assert.equal(await deliver(receiver.port, foreign), 422)
  })
  await report.step('another method, media type or size', async () => {
    assert.equal(await deliver(receiver.port, good, 'PUT'), 405)
    assert.equal(await deliver(receiver.port, good, 'GET'), 405)
    assert.equal(await deliver(receiver.port, withHeader('Content-Type', 'text/plain')), 415)
    const large = await signedDelivery(key, envelope(1, { correlation_id: 'c'.repeat(70_000) }))
    assert.equal(await deliver(receiver.port, large), 413)
    assert.deepEqual(stored(), KEPT)
  })
  await report.step('another event under a known id or sequence', async () => {
    for (const other of [envelope(1, { state: 'delivered' }), envelope(1, { event_id: 'evt_new' })])
      assert.equal(await deliver(receiver.port, await signedDelivery(key, other)), 422)
    assert.deepEqual(stored(), KEPT)
  })
}

async function startReceiver(
  python: string,
  args: readonly string[],
): Promise<AsyncDisposable & { readonly port: number }> {
  const child: ChildProcess = spawn(python, ['-B', '-m', 'agent_exchange.receiver', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: PACKAGES },
  })
  const ended = once(child, 'exit')
  let refusals = ''
  child.stderr?.on('data', (data) => (refusals += String(data)))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let printed = ''
  child.stdout?.on('data', (data) => {
    // A line may arrive in pieces.
    printed += String(data)
    const port = /listening on (\d+)\n/u.exec(printed)?.[1]
    if (port !== undefined) resolve(Number(port))
  })
  void ended.then(() => reject(new Error(`receiver.py ended: ${refusals}`)))
  const timer = setTimeout(() => reject(new Error('receiver.py did not start')), START_MS)
  try {
    const port = await promise
    return {
      port,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await ended
      },
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Host and path are those that the delivery names; the connection goes to this machine. */
async function deliver(port: number, { url, headers, body }: Signed, method = 'POST'): Promise<number> {
  const { host, pathname } = new URL(url)
  const sent = request({
    host: '127.0.0.1',
    port,
    path: pathname,
    method,
    headers: { ...headers, host, 'content-length': body.length },
    agent: false,
  })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }]
  answer.resume()
  return answer.statusCode ?? 0
}

function storedIn(file: string): unknown[] {
  using database = new DatabaseSync(file)
  return database
    .prepare('select event_id from event order by sequence')
    .all()
    .map((row) => row['event_id'])
}
