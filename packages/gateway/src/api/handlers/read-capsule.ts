import { capsuleOfOwn } from '../../agents/own-packages.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentOf, type Handler } from '../call.ts'

export const readCapsule: Handler<'readCapsule'> = async (call) => {
  const hosted = agentOf(call)
  const { package_id: packageId, thread_id: threadId, wait = 0 } = call.query
  if ((packageId === undefined) === (threadId === undefined))
    throw new GatewayProblem('validation_failed', { reason: 'Give either package_id or thread_id.' })
  const subject = threadId === undefined ? { packageId: packageId ?? '' } : { threadId }
  const { capsule, pending } = await capsuleOfOwn(hosted, subject, {
    waitMs: wait * 1_000,
    signal: call.signal,
  })
  return { body: capsule, headers: { 'aex-pending': String(pending.length) } }
}
