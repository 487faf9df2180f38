import type { IncomingMessage } from 'node:http'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../kernel/problem.ts'
import { bodyHoldOf, type BodyHold } from './body-budget.ts'
import { createBodyPages } from './body-pages.ts'

/** Chunks of a body after which other connections have their turn: Node would parse megabytes of tiny ones at once. */
const CHUNKS_PER_TURN = 256
/** From here on a body is read slowly: what the socket delivers at once, 64 KiB, may hold ten thousand chunks. */
const PROMPT_CHUNKS = 4_096
const SLOW_TURN_MS = 40

interface BodyRules {
  readonly maximumBytes: number
  readonly maximumChunks: number
  readonly stallMs: number
  readonly hold: BodyHold
}

/** A parser for the framework: reads an admitted body within the limits of O-14. */
export function bodyReceiver(
  { 'O-14': { body_stall_seconds: seconds, body_chunks: maximumChunks } }: DeploymentProfile,
  maximumBytes?: number,
): (request: FastifyRequest, payload: IncomingMessage) => Promise<Buffer> {
  return async (request, payload) =>
    receiveBody(payload, {
      maximumBytes: maximumBytes ?? request.routeOptions.bodyLimit ?? 0,
      maximumChunks,
      stallMs: seconds * 1_000,
      hold: bodyHoldOf(request),
    })
}

/** Refuses a body that is too large or makes no progress, and one for which no memory is left. */
async function receiveBody(
  payload: IncomingMessage,
  { maximumBytes, maximumChunks, stallMs, hold }: BodyRules,
): Promise<Buffer> {
  const tooLarge = () => new Problem('payload_too_large', { maximum_bytes: maximumBytes })
  const { 'content-length': length } = payload.headers
  const announced = length === undefined ? undefined : Number(length)
  if (announced !== undefined && announced > maximumBytes) throw tooLarge()
  // The peer left while its request waited for admission: no event will follow, even if the whole body had arrived.
  if (payload.destroyed) throw new Problem('malformed_request')
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const pages = createBodyPages(announced)
  let received = 0
  let chunks = 0
  let isRefused = false
  const stall = setTimeout(() => reject(new Problem('request_timeout')), stallMs)
  const onData = (chunk: Buffer) => {
    chunks += 1
    if (chunks % CHUNKS_PER_TURN === 0) pauseForTurn(payload, chunks > PROMPT_CHUNKS)
    // What arrives until the connection is closed is discarded.
    if (isRefused) return
    received += chunk.length
    try {
      if (received > maximumBytes) throw tooLarge()
      if (chunks > maximumChunks)
        throw new Problem('malformed_request', { reason: 'too_many_chunks', maximum_chunks: maximumChunks })
      hold.add(chunk.length)
      pages.add(chunk)
      stall.refresh()
    } catch (error) {
      reject(error)
    }
  }
  const onEnd = () => resolve(pages.bytes())
  // The peer has closed the connection.
  const onError = (cause?: Error) => reject(new Problem('malformed_request', {}, { cause }))
  payload.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
  try {
    return await promise
  } catch (error) {
    isRefused = true
    throw error
  } finally {
    clearTimeout(stall)
  }
}

function pauseForTurn(payload: IncomingMessage, isSlow: boolean): void {
  payload.pause()
  payload.socket.pause()
  const resume = () => {
    payload.resume()
    // More is parsed only when what was parsed before has been read.
    setImmediate(() => {
      if (!payload.isPaused()) payload.socket.resume()
    })
  }
  // Not all such bodies at the same time.
  if (isSlow) setTimeout(resume, SLOW_TURN_MS * (0.5 + Math.random()))
  else setImmediate(resume)
}
