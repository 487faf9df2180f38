import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../clock.ts'
import { fetchIssuerKeys } from './issuer-metadata.ts'

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

/** An issuer with its algorithms and keys, for `jwtVerify` of jose. */
export interface IssuerKeys {
  readonly issuer: string
  readonly algorithms: readonly string[]
  /** Fails with {@link IssuerUnavailable} if the keys cannot be fetched. */
  readonly keyOf: JWTVerifyGetKey
  /** Changes when a key is rotated or revoked, which invalidates cached tokens. */
  readonly version: () => Promise<string>
}

/** The keys of the issuer are not known, and cannot be fetched now. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable'
  readonly retryAfterSeconds = FAILURE_COOLDOWN_MS / 1_000

  constructor(cause: unknown) {
    super('the keys of the issuer cannot be fetched', { cause })
  }
}

/** The keys of an identity provider. Nothing is fetched before its first token, so that a server starts while it is down. */
export function issuerKeys(issuer: string, clock: Clock): IssuerKeys {
  const now = () => clock.monotonicMilliseconds()
  let known: KnownKeys | undefined
  let pending: Promise<KnownKeys> | undefined
  let failure: { readonly error: unknown; readonly at: number } | undefined

  const usable = () => (known && now() - known.fetchedAt <= KEYS_USABLE_MS ? known : undefined)

  /** Concurrent callers share one fetch. */
  async function refresh(): Promise<KnownKeys> {
    if (failure && now() - failure.at < FAILURE_COOLDOWN_MS) throw new IssuerUnavailable(failure.error)
    pending ??= fetchIssuerKeys(issuer)
      .then((keys) => {
        failure = undefined
        return (known = { find: createLocalJWKSet(keys), version: versionOf(keys), fetchedAt: now() })
      })
      .catch((error: unknown) => {
        failure = { error, at: now() }
        throw new IssuerUnavailable(error)
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
