import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { ByteFault } from './faults.ts'
import { spend } from './faults.ts'
import type { ParticipantState } from './participant-state.ts'

const SOURCE_MS = 10_000

/** The public data plane: for a valid token, fetches the bytes from the asset's data address. */
export async function serveData(
  state: ParticipantState,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { faults } = state
  const { authorization } = incoming.headers
  if (faults.dataPlaneStatus && faults.dataPlaneStatus.times-- > 0) {
    const { status, location } = faults.dataPlaneStatus
    return refuse(outgoing, status, 'Something is wrong', location)
  }
  if (authorization === undefined) return refuse(outgoing, 401, 'Missing Authorization Header')
  if (spend(faults, 'rejectTokens')) return refuse(outgoing, faults.rejectWith ?? 403, 'Token expired')
  // The bare token: EDC's data plane accepts no scheme before it.
  const granted = state.grantedTokens.get(authorization)
  if (!granted) return refuse(outgoing, 403, 'Failed to decode token')
  if (granted.expiresAt !== undefined && granted.expiresAt <= state.now())
    return refuse(outgoing, 403, 'Token expired')
  const fault = activeFault(state)
  const assetId = fault?.kind === 'swap' ? fault.assetId : granted.assetId
  const source = await readSource(state, assetId)
  if (typeof source === 'string') return refuse(outgoing, 500, source)
  send(outgoing, source, fault)
}

function activeFault({ faults }: ParticipantState): ByteFault | undefined {
  if (!faults.bytes) return undefined
  if (faults.bytesTimes === undefined) return faults.bytes
  return faults.bytesTimes-- > 0 ? faults.bytes : undefined
}

/** The bytes, or what EDC's data plane says when it cannot get them. */
async function readSource(state: ParticipantState, assetId: string): Promise<Uint8Array | string> {
  const { baseUrl = '', authKey, authCode = '' } = state.assets.get(assetId)?.dataAddress ?? {}
  try {
    const headers = authKey === undefined ? {} : { [authKey]: authCode }
    const answer = await request(baseUrl, { headers, signal: AbortSignal.timeout(SOURCE_MS) })
    const bytes = new Uint8Array(await answer.body.arrayBuffer())
    if (answer.statusCode === 200) return bytes
    return `Received code transferring HTTP data: ${answer.statusCode} - ${answer.statusCode === 410 ? 'Gone' : 'Error'}.`
  } catch {
    return 'GeneralError: the source cannot be reached'
  }
}

function send(outgoing: ServerResponse, bytes: Uint8Array, fault: ByteFault | undefined): void {
  const whole = (body: Uint8Array) => {
    outgoing.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length })
    outgoing.end(body)
  }
  switch (fault?.kind) {
    case undefined:
    case 'swap':
      return whole(bytes)
    case 'flip':
      return whole(bytes.map((byte, i) => (i === fault.at ? byte ^ 1 : byte)))
    case 'drop':
      return whole(bytes.subarray(0, bytes.length - fault.count))
    case 'add':
      return whole(Buffer.concat([bytes, Buffer.alloc(fault.count)]))
    case 'reset':
      outgoing.socket?.resetAndDestroy()
      return undefined
    case 'truncate':
    case 'stall':
      outgoing.writeHead(200, { 'content-length': bytes.length })
      outgoing.write(bytes.subarray(0, fault.after), () => {
        if (fault.kind === 'truncate') outgoing.socket?.destroy()
      })
      return undefined
    case 'slow':
      outgoing.writeHead(200, { 'content-length': bytes.length })
      void drip(outgoing, bytes, fault.pauseMs)
      return undefined
    case 'endless':
      outgoing.writeHead(200)
      pour(outgoing)
      return undefined
  }
}

async function drip(outgoing: ServerResponse, bytes: Uint8Array, pauseMs: number): Promise<void> {
  const size = Math.ceil(bytes.length / 10)
  for (let at = 0; at < bytes.length && !outgoing.destroyed; at += size) {
    await delay(pauseMs)
    outgoing.write(bytes.subarray(at, at + size))
  }
  outgoing.end()
}

/** Without a length, and without an end: until the reader has had enough. */
function pour(outgoing: ServerResponse): void {
  const more = () => {
    while (!outgoing.destroyed && outgoing.write(Buffer.alloc(65_536)));
    if (!outgoing.destroyed) outgoing.once('drain', more)
  }
  more()
}

function refuse(outgoing: ServerResponse, status: number, error: string, location?: string): void {
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    ...(location !== undefined && { location }),
  })
  outgoing.end(JSON.stringify({ errors: [error] }))
}
