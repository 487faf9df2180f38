import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { isPushAddress, type InstanceListeners, type PushAddressRules } from './push-address.ts'
import { requirePushUrl } from './push-endpoints.ts'
import { MAXIMUM_ANSWER_BYTES, REQUEST_TIMEOUT_MS } from './push-limits.ts'

export interface PushSettings extends Pick<PushAddressRules, 'ownPorts'> {
  /** Read at each connection: instances come and go. */
  readonly listInstances?: () => Promise<readonly InstanceListeners[]>
  /** Hosts that an administrator listed, each with its port where that is not the usual one. */
  readonly allowedHosts: ReadonlySet<string>
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
}

/** `failed` has a reason in our own words: never the answer of the endpoint. */
export type PushResult =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'failed'; readonly reason: string }

export interface PushSender extends AsyncDisposable {
  send(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PushResult>
}

class AddressRefused extends Error {}

const resolveBySystem = (hostname: string) =>
  new Promise<string[]>((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, found) =>
      error ? reject(error) : resolve(found.map(({ address }) => address)),
    )
  })

/**
 * Posts to listed hosts. The name is resolved once per connection and the socket is opened to the checked address, which
 * prevents DNS rebinding. Redirects are not followed.
 */
export function createPushSender(settings: PushSettings): PushSender {
  const { allowedHosts, ownPorts, resolve = resolveBySystem, listInstances = async () => [] } = settings
  const agents = new Map<string, Agent>()

  function agentFor({ origin, hostname, port, protocol }: URL): Agent {
    const known = agents.get(origin)
    if (known) return known
    const target = {
      hostname: hostname.replace(/^\[|\]$/gu, ''),
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    }
    const lookup: LookupFunction = (name, options, callback) => {
      permittedAddress(name, target).then(
        (address) => {
          const family = isIP(address)
          if (options.all === true) callback(null, [{ address, family }])
          else callback(null, address, family)
        },
        (error: Error) => callback(error, '', 0),
      )
    }
    const agent = new Agent({
      connect: { lookup, timeout: REQUEST_TIMEOUT_MS },
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
      maxResponseSize: MAXIMUM_ANSWER_BYTES,
    })
    agents.set(origin, agent)
    return agent
  }

  async function permittedAddress(name: string, target: { hostname: string; port: number }): Promise<string> {
    const found = isIP(name) === 0 ? await resolve(name) : [name]
    const rules = { ownPorts, instances: await listInstances() }
    // One forbidden address refuses the name: whoever controls it would choose the order.
    const [first] = found
    if (first === undefined || !found.every((address) => isPushAddress(address, target, rules)))
      throw new AddressRefused('The host leads to an address that is not permitted.')
    return first
  }

  return {
    async send(url, headers, body) {
      try {
        const parsed = requirePushUrl(url, allowedHosts)
        const hostname = parsed.hostname.replace(/^\[|\]$/gu, '')
        // A literal address is connected to without a lookup.
        if (isIP(hostname) !== 0)
          await permittedAddress(hostname, {
            hostname,
            port: Number(parsed.port || (parsed.protocol === 'https:' ? 443 : 80)),
          })
        const { statusCode, body: answer } = await request(parsed, {
          dispatcher: agentFor(parsed),
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body,
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        })
        await answer.dump({ limit: MAXIMUM_ANSWER_BYTES })
        if (statusCode >= 200 && statusCode < 300) return { outcome: 'accepted' }
        return { outcome: 'failed', reason: `The endpoint answered ${statusCode}.` }
      } catch (error) {
        return { outcome: 'failed', reason: reasonOf(error) }
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof Error && / is not listed\./u.test(error.message)) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return `The endpoint could not be reached (${code.slice(0, 40)}).`
}
