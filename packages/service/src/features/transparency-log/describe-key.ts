import type { LogKey } from '@agent-exchange/protocol'
import { formatVerifierKey, type PolicyWitness } from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'
import type { LogKeys } from './log-key.ts'
import { readPreviousLog } from './origin-store.ts'

/** A statement is signed again after this time, and not for every reader. */
const STATEMENT_MS = 60_000

interface Transparency {
  readonly db: Database
  readonly keys: LogKeys
  readonly witnesses: readonly PolicyWitness[]
}

/** The log's keys and witnesses, with a statement by the platform's statement key, which agents have pinned. */
export function logKeyDescription(
  { platform, clock }: Pick<Context, 'platform' | 'clock'>,
  { db, keys, witnesses }: Transparency,
) {
  let last: { name: string; at: number; answer: Promise<LogKey> } | undefined

  async function describe(origin: string, verifierKeys: string[]): Promise<LogKey> {
    const previous = await readPreviousLog(db, origin)
    const named = { origin, verifier_keys: verifierKeys, ...(previous && { previous }) }
    const statement = { purpose: 'aex-log-key', ...named, issued_at: clock.now() }
    return {
      ...named,
      statement: { ...statement, signature: await platform.sign(statement, 'signature') },
      witnesses: witnesses.map((witness) => formatVerifierKey(witness.key)),
    }
  }

  return async (): Promise<LogKey> => {
    const signers = await keys.signers()
    const texts = signers.map(({ key }) => formatVerifierKey(key))
    const [name, at] = [texts.join(), clock.monotonicMilliseconds()]
    if (last?.name !== name || at - last.at >= STATEMENT_MS) {
      const made = { name, at, answer: describe(signers[0].key.name, texts) }
      made.answer.catch(() => {
        if (last === made) last = undefined
      })
      last = made
    }
    return last.answer
  }
}
