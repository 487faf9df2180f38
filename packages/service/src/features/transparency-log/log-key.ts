import { decodeBase64url } from '@agent-exchange/crypto'
import { SIGNATURE_TYPE, verifierKey, type NoteSigner, type VerifierKey } from '@agent-exchange/log'
import type { Database, Queries } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { listAllKeys, listUsableKeys, publicJwkOf } from '../../platform-keys/key-store.ts'
import type { PlatformKeys } from '../../platform-keys/platform-keys.ts'
import { readLogState } from './log-state-store.ts'
import { readOriginPeriod } from './origin-store.ts'

/** The keys of the log under its present origin. */
export interface LogKeys {
  /** All of them sign each checkpoint: after a rotation the earlier one signs too, for those who know only it. */
  signers(): Promise<readonly [NoteSigner, ...NoteSigner[]]>
}

export function openLogKeys(
  db: Database,
  { openLogKey }: Pick<PlatformKeys, 'openLogKey'>,
  clock: Clock,
): LogKeys {
  let opened: { name: string; signers: [NoteSigner, ...NoteSigner[]] } | undefined
  return {
    async signers() {
      // The origin first: keys of an earlier origin never sign under a later one.
      const { origin } = await readLogState(db)
      const keys = await listUsableKeys(db, 'log', clock.now())
      const name = [origin, ...keys.map(({ key_id }) => key_id)].join(' ')
      if (opened?.name === name) return opened.signers
      const [first, ...others] = await Promise.all(
        keys.map(async (row): Promise<NoteSigner> => {
          const { publicKey, sign } = await openLogKey(row)
          return { key: verifierKey(origin, SIGNATURE_TYPE.ed25519, publicKey), sign }
        }),
      )
      if (!first) throw new Error('the transparency log has no key')
      opened = { name, signers: [first, ...others] }
      return opened.signers
    },
  }
}

/**
 * The keys that were made under this origin: an earlier one may have signed an old checkpoint of it. A key of another
 * origin may have been stolen, and whoever has it could sign under this name. A new origin revokes all keys of the former
 * one, so a revoked key counts under a former origin only.
 */
export async function logVerifiers(queries: Queries, origin: string): Promise<VerifierKey[]> {
  const { start, end } = await readOriginPeriod(queries, origin)
  return (await listAllKeys(queries, 'log'))
    .filter(({ created_at: madeAt, status }) => {
      if (start !== undefined && Date.parse(madeAt) < Date.parse(start)) return false
      return end === undefined ? status !== 'revoked' : Date.parse(madeAt) < Date.parse(end)
    })
    .map((row) => {
      const { x } = publicJwkOf(row) as unknown as { x: string }
      return verifierKey(origin, SIGNATURE_TYPE.ed25519, decodeBase64url(x))
    })
}
