import assert from 'node:assert/strict'
import { readdirSync, readFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair } from '@agent-exchange/crypto'
import { callOperator, requestToken } from '@agent-exchange/testkit'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { serveProcess } from '../serve-process.fixture.ts'

const OPEN_FILES = 400
const SILENT_CLIENTS = 450
const AGAIN_MS = 3_000

const folder = mkdtempSync(join(tmpdir(), 'aex-flood-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

const [port = 0, operatorPort = 0] = await freePorts(2)
const env = {
  AEX_DATA_DIR: join(folder, 'data'),
  AEX_PORT: String(port),
  AEX_OPERATOR_PORT: String(operatorPort),
  AEX_HOST: '127.0.0.1',
  AEX_WORKERS: '1',
  DATABASE_URL: '',
}
const base = `http://127.0.0.1:${port}`
const operatorBase = `http://127.0.0.1:${operatorPort}`

/** Connects and says nothing, and connects again whenever it is thrown out. */
function silentClients() {
  const sockets = new Set<Socket>()
  let isOver = false
  let thrownOut = 0
  const dial = (to: number) => {
    if (isOver) return
    const socket = connect(to, '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      sockets.delete(socket)
      thrownOut += 1
      setTimeout(() => dial(to), AGAIN_MS).unref()
    })
  }
  for (let i = 0; i < SILENT_CLIENTS; i++) {
    dial(port)
    dial(operatorPort)
  }
  return {
    thrownOut: () => thrownOut,
    [Symbol.dispose]: () => {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** On a busy machine a request may arrive after its connection was taken for a silent one. HTTP clients send it once more. */
const withRetry = <T>(send: () => Promise<T>): Promise<T> => send().catch(send)

test('silent clients beyond the limit of open files starve neither a caller nor the database', async (t) => {
  if (process.platform !== 'linux') return t.skip('descriptors are counted by /proc')
  await using service = await serveProcess(env, { openFiles: OPEN_FILES })
  assert.match(service.output.log, /open files limit .* raise it/u)
  const operatorToken = readFileSync(join(env.AEX_DATA_DIR, 'operator-token'), 'utf8').trim()
  const operate = (path: string, body: object) =>
    callOperator(operatorBase, operatorToken, 'POST', path, body)
  const { publicKey, privateJwk } = await generateKeyPair('signing')
  await operate('/organizations', { organization_id: 'org_calm', name: 'Calm' })
  const client = await operate('/clients', { organization_id: 'org_calm', public_jwk: publicKey.jwk })

  using flood = silentClients()
  await sleep(1_000)
  for (let round = 0; round < 10; round++) {
    // Each on connections of its own: a new token, a request with it, an operator's change.
    const { access_token } = await withRetry(() =>
      requestToken({
        baseUrl: base,
        clientId: String(client.body['client_id']),
        credential: { method: 'private_key_jwt', key: privateJwk },
      }),
    )
    const headers = { authorization: `Bearer ${access_token}`, 'x-correlation-id': `round-${round}` }
    assert.equal((await withRetry(() => fetch(`${base}/v1/skills`, { headers }))).status, 200)
    const made = await withRetry(() =>
      operate('/organizations', { organization_id: `org_${round}`, name: 'Calm' }),
    )
    assert.equal(made.status, 201)
    assert.equal((await withRetry(() => fetch(`${operatorBase}/readyz`))).status, 200)
    const open = readdirSync(`/proc/${service.pid}/fd`).length
    assert.ok(open < OPEN_FILES - 50, `${open} descriptors are open`)
    await sleep(100)
  }
  assert.ok(flood.thrownOut() > SILENT_CLIENTS, String(flood.thrownOut()))
  assert.doesNotMatch(service.output.log, /EMFILE|"status":5/u)
})
