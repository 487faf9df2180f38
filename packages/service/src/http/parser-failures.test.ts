import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { problemDetails, validatorOf } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { handMadeContext } from '../kernel/hand-made-call.fixture.ts'
import { answerUnparsedRequest } from './problem-replies.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const organization = await world.organization('raw')
const authorization = `Authorization: Bearer ${await organization.token()}`
const CANARY = 'canary5512'
const END = '\r\n\r\n'
const host = 'Host: exchange.example'

/** Sends raw bytes and returns the whole response. */
async function send(bytes: string | Buffer, { half = false } = {}): Promise<string> {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  return read(socket, bytes, half)
}

async function read(socket: Socket, bytes: string | Buffer, half: boolean): Promise<string> {
  socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
  await once(socket, 'connect')
  if (half) socket.end(bytes)
  else socket.write(bytes)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function problemIn(answer: string): Record<string, unknown> {
  const [head = '', body = ''] = answer.split(END)
  assert.match(head, /^HTTP\/1\.1 [45]\d\d /, answer)
  assert.match(head, /content-type: application\/problem\+json/i, answer)
  const problem = JSON.parse(body) as Record<string, unknown>
  assert.deepEqual(validatorOf(problemDetails)(problem), [])
  assert.match(head, new RegExp(`^HTTP/1.1 ${Number(problem['status'])} `))
  assert.equal(answer.includes(CANARY), false, answer)
  return problem
}

const get = (...lines: string[]) =>
  `${['GET /v1/skills HTTP/1.1', ...lines, 'Connection: close'].join('\r\n')}${END}`

const BROKEN: Record<string, [text: string | Buffer, code: string]> = {
  'no HTTP': [`${CANARY}${END}`, 'malformed_request'],
  'HTTP/2 by knowledge': [`PRI * HTTP/2.0${END}SM${END}`, 'malformed_request'],
  'a TLS greeting': [Buffer.from('16030100a5010000a10303', 'hex'), 'malformed_request'],
  'an unknown method': [`${CANARY} / HTTP/1.1\r\n${host}${END}`, 'malformed_request'],
  'a control character in a header': [get(host, `X-Correlation-ID: ${CANARY}\u0001`), 'malformed_request'],
  'a null in a header': [get(host, `X-Correlation-ID: a\0${CANARY}`), 'malformed_request'],
  'a header name with a space': [get(host, `X ${CANARY}: 1`), 'malformed_request'],
  'too many header bytes': [get(host, `X-Large: ${CANARY.repeat(5_000)}`), 'header_invalid'],
  'an address without end': [`GET /v1/${CANARY.repeat(5_000)} HTTP/1.1\r\n${host}${END}`, 'header_invalid'],
  'no host': [get('X-Correlation-ID: a'), 'header_missing'],
  'two hosts': [get(host, `Host: ${CANARY}.example`), 'header_invalid'],
  'the same host twice': [get(host, host), 'header_invalid'],
  'two hosts at the token endpoint': [
    get(host, `Host: ${CANARY}.example`).replace('/v1/skills', '/oauth/token'),
    'header_invalid',
  ],
  'length and chunks': [
    `POST /v1/packages HTTP/1.1\r\n${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0${END}`,
    'malformed_request',
  ],
  'two lengths': [
    `POST /v1/packages HTTP/1.1\r\n${host}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}  `,
    'malformed_request',
  ],
  'a length that is no number': [
    `POST /v1/packages HTTP/1.1\r\n${host}\r\nContent-Length: ${CANARY}\r\n\r\n{}`,
    'malformed_request',
  ],
  'an unreadable address': [
    `GET /v1/agents/%E0%A4%A HTTP/1.1\r\n${host}\r\nConnection: close${END}`,
    'resource_not_found',
  ],
  'a tunnel': [`CONNECT ${CANARY}:443 HTTP/1.1\r\n${host}${END}`, 'malformed_request'],
}

test('[ERR-01][ERR-02] input that cannot be parsed as a request still gets a problem document', async (t) => {
  for (const [name, [bytes, code]] of Object.entries(BROKEN)) {
    await t.test(name, async () => assert.equal(problemIn(await send(bytes))['code'], code))
  }
  assert.equal(world.logged.join('').includes(CANARY), false)
})

const withToken = (...lines: string[]) => get(host, authorization, ...lines)

test('[API-03] a repeated header is refused, even with equal values', async () => {
  const twice = ['X-Correlation-ID: one', 'X-Correlation-ID: one']
  assert.equal(problemIn(await send(withToken(...twice)))['code'], 'header_invalid')
  const keys = ['X-Correlation-ID: one', 'Idempotency-Key: k', 'idempotency-key: k', 'Content-Length: 2']
  const repeated = withToken(...keys, 'Content-Type: application/json').replace(
    'GET /v1/skills',
    'POST /v1/webhook-endpoints',
  )
  const problem = problemIn(await send(`${repeated}{}`))
  assert.deepEqual([problem['code'], problem['details']], ['header_invalid', { header: 'Idempotency-Key' }])
  const tokens = problemIn(await send(withToken('X-Correlation-ID: one', authorization)))
  assert.deepEqual([tokens['code'], tokens['details']], ['header_invalid', { header: 'Authorization' }])
})

test('[ERR-01] an unknown expectation and an upgrade are handled like any other request', async () => {
  for (const header of [
    'Expect: 200-maybe',
    'Upgrade: websocket',
    'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  ]) {
    const answer = await send(withToken('X-Correlation-ID: one', header))
    assert.match(answer, /^HTTP\/1\.1 200 /, `${header} ${answer}`)
  }
})

function post(...lines: string[]): string {
  const headers = ['X-Correlation-ID: one', 'Idempotency-Key: two', 'Content-Type: application/json']
  return withToken(...headers, ...lines).replace('GET /v1/skills', 'POST /v1/webhook-endpoints')
}

test('[API-04][ERR-01] a truncated body, or one with a wrong length, has no effect', async () => {
  const body = '{"url":"https://agent.example/hook","event_types":[]}'
  const cases: Record<string, string> = {
    'cut off': `${post(`Content-Length: ${body.length + 10}`)}${body}`,
    'cut off in a chunk': `${post('Transfer-Encoding: chunked')}ff\r\n${body}`,
    'a broken chunk': `${post('Transfer-Encoding: chunked')}zz\r\n${body}\r\n0${END}`,
    'too large, as announced': `${post('Content-Length: 99999999')}${body}`,
  }
  for (const [name, bytes] of Object.entries(cases)) {
    const answer = await send(bytes, { half: true })
    if (answer !== '') problemIn(answer)
    else assert.match(name, /^cut off/, 'only a caller who left gets no answer')
  }
  assert.equal((await world.sql`select 1 from webhook_endpoint`).length, 0)
  const whole = await send(`${post(`Content-Length: ${body.length}`)}${body}`)
  assert.match(whole, /^HTTP\/1\.1 201 /)
})

test('[ERR-01] a chunked body ends at the limit', async () => {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
  const answer = await send(`${post('Transfer-Encoding: chunked')}${chunk.repeat(40)}`)
  assert.equal(problemIn(answer)['code'], 'payload_too_large')
})

test('[ERR-01] a request that arrives too slowly gets a timeout problem', async () => {
  const context = handMadeContext({})
  const server = createServer((socket) => {
    answerUnparsedRequest(
      Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      socket,
      context,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const answer = await read(connect((server.address() as AddressInfo).port, '127.0.0.1'), '', true)
  server.close()
  const problem = problemIn(answer)
  assert.deepEqual([problem['code'], problem['status'], problem['retryable']], ['request_timeout', 408, true])
})
