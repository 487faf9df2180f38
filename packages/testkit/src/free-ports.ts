import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** Between the two numbers in this file, the system gives ports to connections, and to whoever asks for any. */
const SYSTEM_RANGE = '/proc/sys/net/ipv4/ip_local_port_range'
/** Above all that `fetch` refuses to speak to. */
const LOWEST = 15_000
const USUAL_SYSTEM_RANGE_START = 32_768
const MAXIMUM_TRIES = 1_000

/**
 * Ports that are free, and that the system will not give to another meanwhile: a service may listen only seconds
 * after its port was chosen, and tests that run beside it open hundreds of connections by then.
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
    // Where the system takes nearly all ports, there is nothing to keep away from.
    return start > LOWEST + MAXIMUM_TRIES ? start : USUAL_SYSTEM_RANGE_START
  } catch {
    return USUAL_SYSTEM_RANGE_START
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
