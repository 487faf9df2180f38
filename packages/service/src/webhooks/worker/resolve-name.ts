import { lookup, Resolver } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { systemClock } from '@agent-exchange/server/clock'
import { createHostsFile } from './hosts-file.ts'
import {
  DNS_TIMEOUT_MS,
  MAXIMUM_CACHED,
  MAXIMUM_SYSTEM_LOOKUPS_WAITING,
  REREAD_MS,
  UNRESOLVED_NAME_MS,
} from './webhook-limits.ts'

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

interface ResolverSettings {
  /** Name servers as `address:port`. Undefined: those of the system. */
  readonly servers?: readonly string[]
  readonly timeoutMs?: number
  readonly hostsFile?: string
  readonly systemLookup?: Resolve
}

/** The name is not in DNS, or this machine has no name server: only the system's own resolver may know it. */
const UNKNOWN_TO_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

const getaddrinfo: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address)

/**
 * Hosts file, then DNS, then the system's resolver. A thread pool of four runs getaddrinfo, and a name whose server is
 * silent holds a thread for many seconds; DNS queries of c-ares hold none. So only names that DNS does not know, such as
 * those of a search domain or of mDNS, get to getaddrinfo, one at a time.
 */
export function createNameResolver(settings: ResolverSettings = {}): Resolve {
  const hosts = createHostsFile(settings.hostsFile)
  const dns = rereadServers(settings)
  const system = oneAtATime(settings.systemLookup ?? getaddrinfo)
  const unresolved = new LRUCache<string, Error>({ max: MAXIMUM_CACHED, ttl: UNRESOLVED_NAME_MS })

  async function search(hostname: string): Promise<readonly string[]> {
    const listed = await hosts(hostname)
    if (listed.length > 0) return listed
    try {
      return await queryBothFamilies(dns(), hostname)
    } catch (error) {
      if (UNKNOWN_TO_DNS.has(codeOf(error))) return system(hostname)
      throw error
    }
  }

  return async (hostname) => {
    const former = unresolved.get(hostname)
    if (former) throw former
    try {
      return await search(hostname)
    } catch (error) {
      if (error instanceof Error) unresolved.set(hostname, error)
      throw error
    }
  }
}

/** "Resolution Delay" of RFC 8305 section 3: how long the IPv6 answer is awaited after the IPv4 answer. */
const IPV6_RESOLUTION_DELAY_MS = 50

/** IPv4 and IPv6 alternate, so that a few attempts cover both. A missing IPv6 answer delays nothing (RFC 8305). */
async function queryBothFamilies(resolver: Resolver, hostname: string): Promise<readonly string[]> {
  const later = resolver.resolve6(hostname)
  // Awaited below; this avoids an unhandled rejection.
  later.catch(() => undefined)
  const first = await resolver.resolve4(hostname).catch((error: unknown) => {
    if (error instanceof Error) return error
    throw error
  })
  if (first instanceof Error) return later
  const waiting = new AbortController()
  const second = await Promise.race([
    later.catch(() => []),
    delay(IPV6_RESOLUTION_DELAY_MS, [], { signal: waiting.signal }).catch(() => []),
  ])
  waiting.abort()
  const longest = Math.max(first.length, second.length)
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined)
}

/** c-ares reads the system's name servers once, so the resolver is replaced from time to time. */
function rereadServers({ servers, timeoutMs = DNS_TIMEOUT_MS }: ResolverSettings): () => Resolver {
  let current: { readonly resolver: Resolver; readonly until: number } | undefined
  return () => {
    const now = systemClock.monotonicMilliseconds()
    if (!current || current.until <= now) {
      const resolver = new Resolver({
        timeout: timeoutMs,
        // A name is not unknown because a packet was lost.
        tries: 2,
        maxTimeout: 2 * DNS_TIMEOUT_MS,
      })
      if (servers) resolver.setServers(servers)
      current = { resolver, until: now + REREAD_MS }
    }
    return current.resolver
  }
}

function oneAtATime(resolve: Resolve): Resolve {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (hostname) => {
    if (waiting >= MAXIMUM_SYSTEM_LOOKUPS_WAITING) throw new Error('too many names that DNS does not know')
    waiting += 1
    const turn = last.then(() => resolve(hostname)).finally(() => (waiting -= 1))
    last = turn.catch(() => undefined)
    return turn
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
