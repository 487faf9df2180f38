import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freePorts } from './free-ports.ts'

const RANGE_FILE = '/proc/sys/net/ipv4/ip_local_port_range'
const [start = 0, end = 0] = readFileSync(RANGE_FILE, 'utf8').trim().split(/\s+/u).map(Number)
const skip = start < 20_000 && 'the ephemeral port range covers nearly all ports'

test('free ports differ and can be listened on', async () => {
  const ports = await freePorts(20)
  assert.equal(new Set(ports).size, 20)
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  }
})

test('free ports are outside the ephemeral port range', { skip }, async () => {
  for (const port of await freePorts(200)) assert.ok(port < start || port > end, String(port))
})
