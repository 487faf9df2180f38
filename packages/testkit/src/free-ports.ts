import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** This file holds the ephemeral port range of the system. */
const SYSTEM_RANGE = '/proc/sys/net/ipv4/ip_local_port_range'
/** Above all ports that `fetch` blocks. */
const LOWEST = 15_000
const USUAL_SYSTEM_RANGE_START = 32_768
const MAXIMUM_TRIES = 1_000
/** By then whoever asked for the port listens on it. */
const RESERVED_MS = 60_000

/**
 * Free ports outside the ephemeral port range. A service may start to listen seconds after its port was chosen, and
 * other tests open hundreds of connections and choose ports of their own in the meantime.
 */
export async function freePorts(count: number): Promise<number[]> {
  const beyond = systemRangeStart()
  const found = new Set<number>()
  for (let tries = 0; found.size < count; tries++) {
    if (tries === MAXIMUM_TRIES) throw new Error('no free ports')
    const port = randomInt(LOWEST, beyond)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

function systemRangeStart(): number {
  try {
    const start = Number.parseInt(readFileSync(SYSTEM_RANGE, 'utf8'), 10)
    // If the ephemeral range covers nearly all ports, it cannot be avoided.
    return start > LOWEST + MAXIMUM_TRIES ? start : USUAL_SYSTEM_RANGE_START
  } catch {
    return USUAL_SYSTEM_RANGE_START
  }
}

async function isFree(port: number): Promise<boolean> {
  const release = await reserve(port)
  if (!release) return false
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    release()
    return false
  }
  server.close()
  await once(server, 'close')
  setTimeout(release, RESERVED_MS).unref()
  return true
}

/** Binds the UDP port of the same number: no other process gets it then, and it is released when this one ends. */
async function reserve(port: number): Promise<(() => void) | undefined> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1').unref()
  try {
    await once(socket, 'listening')
  } catch {
    socket.close()
    return undefined
  }
  return () => void socket.close()
}
