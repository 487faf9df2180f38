import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { McpServer } from '@modelcontextprotocol/server'
import { MAXIMUM_MESSAGE_BYTES } from '../mcp-limits.ts'
import { accessToken } from './access-token.ts'
import { listenHttp, type McpHttpServer } from './serve-http.ts'

const TOKEN = 'b'.repeat(43)
let server: McpHttpServer
let built = 0
before(async () => {
  const factory = () => {
    built += 1
    return new McpServer({ name: 'test', version: '1.0.0' })
  }
  server = await listenHttp(factory, { port: 0, token: TOKEN })
})
after(() => server[Symbol.asyncDispose]())

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

/** `fetch` does not let a caller set Host. */
function post(
  headers: Record<string, string>,
  { path = '/mcp', body = INITIALIZE } = {},
): Promise<{ status: number; text: string }> {
  const { port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${TOKEN}`,
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const own = () => new URL(server.url).host

test('a request with the token and a local host is served', async () => {
  const { status, text } = await post({})
  assert.equal(status, 200, text)
  assert.equal((await post({ origin: `http://${own()}` })).status, 200)
  assert.equal((await post({ host: `localhost:${new URL(server.url).port}` })).status, 200)
})

test('a name that is rebound to the loopback address is refused', async () => {
  const { port } = new URL(server.url)
  for (const host of [
    'attacker.example',
    `attacker.example:${port}`,
    `127.0.0.1.attacker.example:${port}`,
    `localhost.attacker.example:${port}`,
    '127.0.0.1',
    '127.0.0.1:1',
    `2130706433:${port}`,
  ])
    assert.equal((await post({ host })).status, 403, host)
})

test('a page of another origin is refused, even with the token', async () => {
  const { port } = new URL(server.url)
  for (const origin of [
    'https://attacker.example',
    'null',
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1:1',
    `http://127.0.0.1:${port}.attacker.example`,
    'file://',
  ])
    assert.equal((await post({ origin })).status, 403, origin)
})

test('a wrong or missing token is refused before a server is built', async () => {
  const builtBefore = built
  for (const authorization of [
    '',
    'Bearer',
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN}x`,
    `Basic ${TOKEN}`,
    TOKEN,
  ])
    assert.equal((await post({ authorization })).status, 401, authorization)
  assert.equal(built, builtBefore)
})

test('another path and a body above the limit are refused', async () => {
  assert.equal((await post({}, { path: '/' })).status, 404)
  assert.equal((await post({}, { path: '/mcp/../mcp' })).status, 404)
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    params: { pad: 'x'.repeat(MAXIMUM_MESSAGE_BYTES) },
  })
  const { status } = await post({}, { body })
  assert.equal(status, 413)
})

test('the token file is private, kept, and refused if others can read it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-mcp-token-'))
  const file = join(folder, 'mcp-token')
  try {
    const token = await accessToken(file)
    assert.match(token, /^[\w-]{43}$/u)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(await accessToken(file), token)
    assert.equal(readFileSync(file, 'utf8').trim(), token)
    chmodSync(file, 0o644)
    await assert.rejects(accessToken(file), /Other users can read/u)
    chmodSync(file, 0o600)
    writeFileSync(file, 'short')
    await assert.rejects(accessToken(file), /holds no token/u)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
