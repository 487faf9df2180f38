import type { Transaction, Write } from './database.ts'
import { forgetSent } from './transaction-lines.ts'

/**
 * Sends writes to different tables as one statement: with each that is sent, driver and server have as much to do as with
 * the rows of a small batch. None of them sees what the others write.
 */
export async function sendTogether(tx: Transaction, writes: readonly (Write | undefined)[]): Promise<void> {
  const [main, ...beside] = writes.filter((write) => write !== undefined)
  if (!main) return
  const named = beside.map((write, index) => {
    const name = tx(`write_${index}`)
    return index === 0 ? tx`with ${name} as (${write})` : tx`, ${name} as (${write})`
  })
  const sent = named.length > 0 ? tx`${named} ${main}` : main
  await sent.execute()
  for (const part of [...beside, ...named, main]) forgetSent(part)
}
