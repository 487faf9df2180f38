import type { FastifyReply, FastifyRequest } from 'fastify'
import { limitedAddress } from '@agent-exchange/protocol/limited-address'
import { delayRefusals } from '@agent-exchange/server/refusal-delay'
import { createCallLimits } from '../systems/call-limits.ts'
import { GatewayProblem } from '../problems.ts'
import { HELD_REFUSALS, REFUSED_CREDENTIALS_PER_MINUTE, REFUSAL_DELAY_MS } from './api-limits.ts'

export type DelayRefusals = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface RefusalDelayOptions {
  readonly delayMs?: number
  readonly isProxy?: (address: string | undefined) => boolean
}

const nobody = () => false

/**
 * Each guess of a key costs a query, and each JWT a verification. An address that sends many invalid credentials gets its
 * answers late, as at an exchange; a valid one is never delayed, because another system may share the address.
 */
export function createRefusalDelay(
  nowMs: () => number,
  { delayMs = REFUSAL_DELAY_MS, isProxy = nobody }: RefusalDelayOptions = {},
): DelayRefusals {
  const refused = createCallLimits(nowMs, { callsPerMinute: REFUSED_CREDENTIALS_PER_MINUTE })
  const isWithinRate = (address: string) => {
    const limited = refused.begin(address)
    if (!limited) refused.end(address)
    return !limited
  }
  const delay = delayRefusals(isWithinRate, { delayMs, maximumHeld: HELD_REFUSALS })
  return async (error, request, reply) => {
    if (!(error instanceof GatewayProblem) || !CREDENTIALS.has(error.code)) return
    const { remoteAddress } = request.raw.socket
    // Everybody shares the address of a proxy.
    if (isProxy(remoteAddress)) return
    if (!(await delay(limitedAddress(remoteAddress)))) reply.header('connection', 'close')
  }
}

const CREDENTIALS: ReadonlySet<string> = new Set(['access_token_missing', 'access_token_invalid'])
