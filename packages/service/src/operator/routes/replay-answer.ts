import type { Replayed, ReplayOrder } from '../../webhooks/queue/replay-insert.ts'
import type { OperatorCall } from '../route.ts'

/** The actor and reason of a replay. */
export function replayOrder({ actor, input, now }: OperatorCall<{ reason: string }>): ReplayOrder {
  return { actor, reason: input.reason, now }
}

export function replayAnswer(replayed: readonly Replayed[]) {
  return { replayed: replayed.length, deliveries: replayed }
}
