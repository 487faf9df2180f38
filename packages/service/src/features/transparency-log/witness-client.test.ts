import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import {
  appendLeaves,
  cosignNote,
  edgeRoot,
  EMPTY_EDGE,
  formatCheckpoint,
  noteSigner,
  parseWitnessRequest,
  SIGNATURE_TYPE,
  signNote,
  tilePath,
  type WitnessRequest,
} from '@agent-exchange/log'
import { askWitness } from './witness-client.ts'

const NOW = '2026-11-17T12:00:00.000Z'
const seconds = Date.parse(NOW) / 1_000
const SIZE = 9
const { edge, tiles } = appendLeaves(
  EMPTY_EDGE,
  Array.from({ length: SIZE }, () => randomBytes(64)),
)
const files = new Map(tiles.map(({ bytes, ...name }) => [tilePath(name), bytes]))
const log = await noteSigner('log.example', SIGNATURE_TYPE.ed25519, randomBytes(32))
const signer = await noteSigner('w.example', SIGNATURE_TYPE.cosignature, randomBytes(32))
const note = await signNote(formatCheckpoint({ origin: 'log.example', size: SIZE, root: edgeRoot(edge) }), [
  log,
])

type Reply = { readonly status: number; readonly body?: string }
let reply: (request: WitnessRequest) => Reply | Promise<Reply>
const server = createServer((request, response) => {
  void (async () => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { status, body = '' } = await reply(parseWitnessRequest(Buffer.concat(parts).toString()))
    response.writeHead(status).end(body)
  })()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const ask = (knownSize: number) =>
  askWitness({
    witness: { kind: 'witness', name: 'w', key: signer.key, url },
    knownSize,
    size: SIZE,
    note,
    logKey: log.key,
    readTile: async (name) => files.get(tilePath(name)) ?? assert.fail(tilePath(name)),
    now: NOW,
  })

/** A witness that cosigned another tree of this size, as litewitness (422) and omniwitness (409) answer. */
const forkedAt = (size: number, refusal: Reply) => (request: WitnessRequest) =>
  request.oldSize === size ? refusal : { status: 409, body: `${size}\n` }

test('[AUD-03] a witness that refuses the proof from its own size has seen another history', async () => {
  for (const knownSize of [0, 3, 5, SIZE]) {
    for (const [size, refusal] of [
      [5, { status: 422 }],
      [SIZE, { status: 422 }],
      [SIZE, { status: 409 }],
      [SIZE, { status: 409, body: `${SIZE}\n` }],
    ] as const) {
      reply = forkedAt(size, refusal)
      assert.deepEqual(await ask(knownSize), { outcome: 'fork' }, `${knownSize} ${size} ${refusal.status}`)
    }
  }
})

test('[AUD-03] an answer that names no size of the witness does not stop the log', async () => {
  const answers: Reply[] = [
    { status: 422 },
    { status: 422, body: '<html>blocked by the proxy</html>' },
    { status: 409 },
    { status: 409, body: 'conflict\n' },
    { status: 409, body: '{"size":5}' },
    { status: 409, body: '5' },
  ]
  for (const answer of answers) {
    reply = () => answer
    for (const knownSize of [5, SIZE]) {
      const { outcome } = await ask(knownSize)
      assert.equal(outcome, 'failed', JSON.stringify({ answer, knownSize }))
    }
  }
})

test('a witness that lost its memory cosigns from the beginning', async () => {
  const cosigned = async () => ({ status: 200, body: `${await cosignNote(note, signer, seconds)}\n` })
  reply = ({ oldSize }) => (oldSize === 0 ? cosigned() : { status: 422 })
  assert.equal((await ask(5)).outcome, 'cosigned')
})

test('[AUD-03] a witness that knows a larger tree stops the log', async () => {
  reply = () => ({ status: 409, body: '10\n' })
  assert.deepEqual(await ask(5), { outcome: 'ahead', size: 10 })
})

test('a cosignature from the future is not published', async () => {
  for (const [time, outcome] of [
    [seconds + 299, 'cosigned'],
    [seconds + 301, 'failed'],
    [Number.MAX_SAFE_INTEGER, 'failed'],
  ] as const) {
    reply = async () => ({ status: 200, body: `${await cosignNote(note, signer, time)}\n` })
    assert.equal((await ask(5)).outcome, outcome, String(time))
  }
})
