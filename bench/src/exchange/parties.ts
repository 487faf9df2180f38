import type { PrivateJwk, PublicJwk } from '@agent-exchange/crypto'
import {
  dispatcherFor,
  requestToken,
  type Organization,
  type OrganizationOptions,
  type World,
} from '@agent-exchange/testkit'
import type { Served } from '../processes/serve.ts'

const AT_ONCE = 8

/** Creates organizations, each with a registered agent and a client, through the API. */
export async function makeOrganizations(
  world: World,
  name: string,
  count: number,
  options: OrganizationOptions = {},
): Promise<Organization[]> {
  return inChunks(count, () => world.organization(name, options))
}

/** An agent as another process needs it, to sign and seal. */
export interface Party {
  readonly organizationId: string
  readonly agentId: string
  readonly signing: { readonly keyId: string; readonly jwk: PrivateJwk }
  readonly encryption: { readonly keyId: string; readonly jwk: PublicJwk }
}

export function toParty({ organizationId, agentId, signing, encryption }: Organization): Party {
  return {
    organizationId,
    agentId,
    signing: { keyId: signing.keyId, jwk: signing.pair.privateJwk },
    encryption: { keyId: encryption.keyId, jwk: encryption.pair.publicKey.jwk },
  }
}

/** Tokens of organizations at one URL, renewed before they expire. */
export interface Tokens {
  fresh(): Promise<readonly string[]>
}

/** Enough for the longest measurement that is made with them. */
const NEEDED_SECONDS = 90

export function tokensFor(organizations: readonly Organization[], at: Served, ca?: string): Tokens {
  let current: { tokens: string[]; until: number } | undefined
  const dispatcher = ca === undefined ? undefined : dispatcherFor({ ca })
  const ask = ({ clientId, clientKey }: Organization) =>
    requestToken({
      baseUrl: at.url,
      clientId,
      credential: { method: 'private_key_jwt', key: clientKey.privateJwk },
      ...(dispatcher && { dispatcher }),
    })
  return {
    async fresh() {
      if (current && current.until > Date.now()) return current.tokens
      const asked = Date.now()
      const answers = await inChunks(organizations.length, (i) => ask(organizations[i] as Organization))
      const lifetime = Math.min(...answers.map(({ expires_in = 0 }) => expires_in))
      current = {
        tokens: answers.map(({ access_token }) => access_token),
        until: asked + (lifetime - NEEDED_SECONDS) * 1_000,
      }
      return current.tokens
    },
  }
}

async function inChunks<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) {
    const size = Math.min(AT_ONCE, count - made.length)
    const from = made.length
    made.push(...(await Promise.all(Array.from({ length: size }, (_, i) => make(from + i)))))
  }
  return made
}
