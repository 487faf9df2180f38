import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Database, inTransaction } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { appendToLog } from '../features/operators/operator-log-store.ts'
import { insertOperator, lockOperators } from '../features/operators/operator-store.ts'
import { hashToken, newOperatorToken } from './operator-token.ts'

const FIRST_OPERATOR = 'admin'

/**
 * Creates the operator `admin` if there is none, and writes its token to a file that only its owner can read. If several
 * processes start at once, one of them does this.
 */
export async function ensureFirstOperator(
  db: Database,
  tokenFile: string,
  { clock }: { readonly clock: Clock },
): Promise<{ readonly created: boolean }> {
  return inTransaction(db, async (tx) => {
    const { none } = await lockOperators(tx)
    if (!none) return { created: false }
    const token = newOperatorToken()
    const now = clock.now()
    await insertOperator(tx, {
      name: FIRST_OPERATOR,
      role: 'administrator',
      tokenHash: hashToken(token),
      now,
    })
    await appendToLog(tx, {
      actor: 'service',
      action: 'operator.create',
      target: FIRST_OPERATOR,
      reason: 'first start',
      details: {},
      now,
    })
    // Before the commit: a token without an operator is useless, but an operator without a token cannot be recovered.
    await writePrivately(tokenFile, `${token}\n`)
    return { created: true }
  })
}

/** Writes atomically with mode 0600, replacing an older file. */
async function writePrivately(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
