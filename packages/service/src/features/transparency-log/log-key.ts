import { noteSigner, SIGNATURE_TYPE, type NoteSigner } from '@agent-exchange/log'
import type { Database } from '../../db/database.ts'
import type { PlatformKeys } from '../../kernel/platform-keys.ts'
import { readLogState } from './log-state-store.ts'

/** The keys of the log under its present origin. */
export interface LogKeys {
  /** All of them sign each checkpoint: after a rotation the earlier one signs too, for those who know only it. */
  signers(): Promise<readonly [NoteSigner, ...NoteSigner[]]>
}

export function openLogKeys(
  db: Database,
  { log, openLogKey }: Pick<PlatformKeys, 'log' | 'openLogKey'>,
): LogKeys {
  let opened: { name: string; signers: [NoteSigner, ...NoteSigner[]] } | undefined
  return {
    async signers() {
      const [{ origin }, { keys, version }] = [await readLogState(db), await log.current()]
      const name = `${origin} ${version}`
      if (opened?.name === name) return opened.signers
      const [first, ...others] = await Promise.all(
        keys.map((row) => noteSigner(origin, SIGNATURE_TYPE.ed25519, openLogKey(row))),
      )
      if (!first) throw new Error('the transparency log has no key')
      opened = { name, signers: [first, ...others] }
      return opened.signers
    },
  }
}
