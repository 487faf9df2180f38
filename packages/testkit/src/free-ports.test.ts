import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts } from './free-ports.ts'

const RANGE_FILE = '/proc/sys/net/ipv4/ip_local_port_range'
const range = existsSync(RANGE_FILE) ? readFileSync(RANGE_FILE, 'utf8') : ''
const [start = 0, end = 0] = range.trim().split(/\s+/u).map(Number)
const skip = start < 20_000 && 'the ephemeral port range is unknown or covers nearly all ports'

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

test('a port is not handed out again before somebody can listen on it, nor to another process', async () => {
  const ask = `import { freePorts } from '${new URL('free-ports.ts', import.meta.url).href}'
    console.log(JSON.stringify(await freePorts(300)))`
  const here = (await Promise.all([freePorts(300), freePorts(300)])).flat()
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', ask])
  // Without reservations, some of 900 would be the same with a probability of more than 99.99%.
  assert.equal(new Set([...here, ...(JSON.parse(stdout) as number[])]).size, 900)
})
