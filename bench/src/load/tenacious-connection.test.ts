import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Connection } from './connection.ts'
import { closedLoop } from './loops.ts'
import { tenacious } from './tenacious-connection.ts'

test('a hostile client goes on whatever the status is, and after its connection was closed', async (t) => {
  let requests = 0
  const server = createServer((request, response) => {
    request.resume()
    if (++requests % 3 === 0) request.socket.destroy()
    else response.writeHead(429, { 'content-length': 0 }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const sender = tenacious(await Connection.open(address), address)
  let left = 10
  const next = () => (left-- > 0 ? { head: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' } : undefined)
  const outcome = await closedLoop([sender], next, { rampMs: 0, measureMs: 60_000, status: 'any' })
  sender.close()
  assert.equal(outcome.requests, 10)
  assert.equal(requests, 10)
})
