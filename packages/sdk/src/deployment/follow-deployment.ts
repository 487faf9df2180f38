import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import {
  DEFAULT_PROFILE,
  judgingProfile,
  profileChanges,
  PUBLISHED_PROFILE,
  readPublishedProfile,
  type DeploymentProfile,
  type TrustChoices,
} from '@agent-exchange/protocol'
import type { Connection } from '../connection/connection.ts'
import { ExchangeError } from '../errors.ts'
import type { Deployment, DeploymentChange, DeploymentStore, KnownDeployment } from './deployment.ts'

/** How long a published profile is believed without asking again. */
const FRESH_MS = 3_600_000
/** Pause after a failed attempt. */
const PAUSE_MS = 60_000
/** Longest delay of a call by an exchange that does not answer. */
const READ_MS = 10_000
/** The document has about 250 KB. */
const MAXIMUM_DOCUMENT_BYTES = 8_388_608
const MAXIMUM_DEPTH = 64

export interface DeploymentOptions {
  readonly connection: Connection
  readonly store: DeploymentStore
  readonly trust: TrustChoices
  readonly now: () => Date
  readonly onChange?: ((change: DeploymentChange) => void) | undefined
}

/** Judges by a given profile, whatever the exchange publishes. */
export function fixedDeployment(profile: DeploymentProfile): Deployment {
  return { profile, refresh: () => Promise.resolve() }
}

/** Follows what the exchange publishes in /openapi.json about its behaviour. Trust choices never follow. */
export function followDeployment({ connection, store, trust, now, onChange }: DeploymentOptions): Deployment {
  let profile = judgingProfile(DEFAULT_PROFILE, trust)
  let nextAt = -Infinity
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const at = now()
    // The clock of tests may be moved back.
    nextAt = at.getTime() + PAUSE_MS
    const kept = await store.read()
    const before = kept && readPublishedProfile(kept.published)
    if (before) profile = judgingProfile(before, trust)
    if (kept && isFresh(kept, at)) {
      nextAt = Date.parse(kept.checkedAt) + FRESH_MS
      return
    }
    const published = await fetchPublished(connection)
    const after = readPublishedProfile(published)
    if (!published || !after) return
    profile = judgingProfile(after, trust)
    nextAt = at.getTime() + FRESH_MS
    const changes = before ? profileChanges(before, after) : []
    const changed = changes.length > 0 ? { noticedAt: at.toISOString(), changes } : kept?.changed
    await store.write({ published, checkedAt: at.toISOString(), ...(changed && { changed }) })
    if (changed && changes.length > 0) onChange?.(changed)
  }

  return {
    get profile() {
      return profile
    },
    refresh() {
      const isDue = now().getTime() >= nextAt
      if (!reading && !isDue) return Promise.resolve()
      reading ??= read().finally(() => (reading = undefined))
      return reading
    },
  }
}

function isFresh({ checkedAt }: KnownDeployment, now: Date): boolean {
  return Math.abs(now.getTime() - Date.parse(checkedAt)) < FRESH_MS
}

/** Undefined where the exchange publishes none, or does not answer: what was known before stays. */
async function fetchPublished(connection: Connection): Promise<KnownDeployment['published'] | undefined> {
  try {
    const bytes = await connection.download(`${connection.baseUrl}/openapi.json`, {
      maximumBytes: MAXIMUM_DOCUMENT_BYTES,
      signal: AbortSignal.timeout(READ_MS),
    })
    const document = parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH })
    const published: unknown = Reflect.get(Object(document) as object, PUBLISHED_PROFILE)
    return readPublishedProfile(published) && (published as KnownDeployment['published'])
  } catch (error) {
    if (error instanceof ExchangeError || error instanceof CryptoError) return undefined
    throw error
  }
}
