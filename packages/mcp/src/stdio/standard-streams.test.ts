import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { companies } from '../companies.fixture.ts'
import { MAXIMUM_MESSAGE_BYTES } from '../mcp-limits.ts'
import { serveStandardStreams } from '../serve.ts'
import type { McpSession } from '../session.ts'
import { RequestIdScan } from './request-id-scan.ts'

const both = companies()

interface Answer {
  readonly id: string | number | null
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** A client that writes lines and reads answers, without a library. */
async function startClient(session: McpSession) {
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1_024 })]
  const server = serveStandardStreams(session, { input, output })
  const write = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let rest = ''
  const read = async (count: number): Promise<Answer[]> => {
    for (;;) {
      const lines = rest.split('\n')
      if (lines.length > count) {
        rest = lines.slice(count).join('\n')
        return lines.slice(0, count).map((line) => JSON.parse(line) as Answer)
      }
      const chunk = output.read() as Buffer | null
      if (chunk) rest += String(chunk)
      else await once(output, 'readable')
    }
  }
  const clientInfo = { name: 'test', version: '1' }
  write({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await read(1)
  write({ method: 'notifications/initialized' })
  return { input, output, server, write, read, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test('a message above the limit is refused for itself, and the next one is answered', async () => {
  const { session, calls } = both.acme
  await using client = await startClient(session)
  const pad = 'x'.repeat(MAXIMUM_MESSAGE_BYTES)
  client.write({ id: 7, method: 'tools/call', params: { name: 'list_drafts', arguments: { pad } } })
  const [refused] = await client.read(1)
  assert.deepEqual([refused?.id, refused?.error?.code], [7, -32_600])
  assert.match(refused?.error?.message ?? '', /larger than 2097152 bytes.*Send a smaller one/u)
  assert.deepEqual([calls.at(-1)?.outcome, calls.at(-1)?.code], ['limited', 'message_too_large'])

  client.write({ id: 8, method: 'tools/call', params: { name: 'list_drafts', arguments: {} } })
  const [answered] = await client.read(1)
  assert.deepEqual([answered?.id, answered?.error], [8, undefined])
  client.input.end()
  await client.server.closed
})

test('many answers that wait for a slow client cause no warning', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  await using client = await startClient(both.bolt.session)
  const count = 60
  for (let id = 1; id <= count; id++) client.write({ id, method: 'tools/list', params: {} })
  await once(client.output, 'readable')
  const answers = await client.read(count)
  assert.deepEqual(new Set(answers.map(({ id }) => id)).size, count)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(warnings, [])
})

test('the id of a request is found wherever it stands, and nothing else is taken for it', () => {
  const idOf = (text: string, step = 3) => {
    const scan = new RequestIdScan()
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += step) scan.read(bytes.subarray(at, at + step))
    return scan.id
  }
  assert.equal(idOf('{"id":5,"params":{"id":6,"text":"\\"id\\":7,{["},"jsonrpc":"2.0"}'), 5)
  assert.equal(idOf('{"params":{"a":[{"id":1},"}]"]}, "id" : "call\\"9"}'), 'call"9')
  assert.equal(idOf('{"params":{"id":6}}'), null)
  assert.equal(idOf('{"method":"id","id":null}'), null)
  assert.equal(idOf(`{"id":"${'x'.repeat(2_000)}","a":1}`), null)
  assert.equal(idOf('[{"id":1}]'), null)
  assert.equal(idOf('}}}}{"id":1'), null)
})
