import { createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { Clock } from '@agent-exchange/server/clock'
import { Problem } from '../kernel/problem.ts'
import { fetchIssuerKeys } from './issuer-metadata.ts'
import type { TokenIssuer } from './token-keys.ts'

const EXTERNAL_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519']
/** Older keys are fetched again in the background, so that a key that the issuer removed stops working. */
const KEYS_FRESH_MS = 600_000
/** While the issuer is down, its last known keys are used for this long. */
const KEYS_USABLE_MS = 3_600_000
/** Minimum age of the keys before an unknown key id causes another fetch. */
const UNKNOWN_KEY_COOLDOWN_MS = 5_000
/** Minimum interval between fetches while the issuer is down. */
const FAILURE_COOLDOWN_MS = 2_000

interface KnownKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>
  readonly version: string
  readonly fetchedAt: number
}

/**
 * An external issuer (AEX_ISSUER). Nothing is fetched before its first token, so that the exchange can start while the
 * issuer is down.
 */
export function externalIssuer(issuer: string, clock: Clock): TokenIssuer {
  const now = () => clock.monotonicMilliseconds()
  let known: KnownKeys | undefined
  let pending: Promise<KnownKeys> | undefined
  let failure: { readonly error: unknown; readonly at: number } | undefined

  const usable = () => (known && now() - known.fetchedAt <= KEYS_USABLE_MS ? known : undefined)

  /** Concurrent callers share one fetch. */
  async function refresh(): Promise<KnownKeys> {
    if (failure && now() - failure.at < FAILURE_COOLDOWN_MS) throw unavailable(failure.error)
    pending ??= fetchIssuerKeys(issuer)
      .then((keys) => {
        failure = undefined
        return (known = { find: createLocalJWKSet(keys), version: versionOf(keys), fetchedAt: now() })
      })
      .catch((error: unknown) => {
        failure = { error, at: now() }
        throw unavailable(error)
      })
      .finally(() => (pending = undefined))
    return pending
  }

  /** A failed refresh changes nothing: the next request starts another one after the cooldown. */
  function refreshIfOld(): void {
    if (known && now() - known.fetchedAt > KEYS_FRESH_MS) void refresh().catch(() => undefined)
  }

  return {
    issuer,
    isExternal: true,
    algorithms: EXTERNAL_ALGORITHMS,
    async version() {
      refreshIfOld()
      return usable()?.version ?? ''
    },
    async keyOf(header, token) {
      const keys = usable() ?? (await refresh())
      try {
        return await keys.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        // The issuer may have rotated its keys. The cooldown bounds what tokens with invented key ids can cause.
        if (now() - keys.fetchedAt < UNKNOWN_KEY_COOLDOWN_MS) throw error
        return (await refresh()).find(header, token)
      }
    },
  }
}

/** Independent of the order of the keys, which may differ between the nodes of an issuer. */
function versionOf({ keys }: JSONWebKeySet): string {
  return keys
    .map((key) => JSON.stringify(key))
    .toSorted()
    .join()
}

function unavailable(cause: unknown): Problem {
  const details = { reason: 'issuer_unavailable', retry_after_seconds: FAILURE_COOLDOWN_MS / 1_000 }
  return new Problem('service_overloaded', details, { cause })
}
