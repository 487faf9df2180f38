import type { PublicJwk } from '@agent-exchange/crypto'
import { discover, freePorts, type Organization } from '@agent-exchange/testkit'
import type { Exchange } from '../exchange/exchange.ts'
import { startHelper } from '../processes/calls.ts'
import type { ReferenceCalls } from './reference-main.ts'
import type { ReferenceServer } from './reference-settings.ts'

export interface ReferenceProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

export async function startReferenceProcess(
  { service }: Pick<Exchange, 'service'>,
  senders: readonly Organization[],
  { server, workers }: { readonly server: ReferenceServer; readonly workers: number },
): Promise<ReferenceProcess> {
  const [port = 0] = await freePorts(1)
  const helper = startHelper<ReferenceCalls>(new URL('reference-main.ts', import.meta.url))
  const settings = {
    port,
    issuer: service.url,
    jwks: await tokenKeys(service.url),
    keys: senders.map(({ agentId, signing }) => ({ agentId, jwk: signing.pair.publicKey.jwk })),
    server,
  }
  await helper.call('start', settings, workers)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: helper.pid,
    [Symbol.asyncDispose]: () => helper[Symbol.asyncDispose](),
  }
}

async function tokenKeys(baseUrl: string): Promise<(PublicJwk & { kid: string })[]> {
  const { server } = await discover({ baseUrl })
  const response = await fetch(String(server.jwks_uri))
  const { keys } = (await response.json()) as { keys: (PublicJwk & { kid: string })[] }
  return keys
}
