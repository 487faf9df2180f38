import { hash } from 'node:crypto'
import type { Transaction } from '@agent-exchange/database'

/** The number of an advisory lock. */
export function lockNumber(name: string): string {
  return hash('sha256', `gateway\0${name}`, 'buffer').readBigInt64BE().toString()
}

/** One transaction at a time changes this part of an agent. Held until the end of the transaction. */
export async function lockPart(tx: Transaction, part: string, agentId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockNumber(`${part}/${agentId}`)}::text::bigint)`
}
