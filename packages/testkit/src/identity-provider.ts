import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Configuration } from 'oidc-provider'

export const CLIENT_ID = 'aex-console'
export const CLIENT_SECRET = 'a-secret-of-the-console-client-0123456789'

export interface Person {
  readonly sub: string
  readonly name?: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: readonly string[]
}

/** For tests: a real OpenID Connect provider on loopback that signs in whoever `person` is, without asking. */
export async function startIdentityProvider(
  redirectUris: readonly string[],
  { port = 0, host = '127.0.0.1' }: { readonly port?: number; readonly host?: string } = {},
) {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`
  let person: Person = { sub: 'nobody' }
  let signedInAgo = 0
  const provider = new Provider(
    issuer,
    configuration(redirectUris, () => person),
  )
  const callback = provider.callback()
  server.on('request', (request, response) => {
    const isInteraction = request.url?.startsWith('/interaction/') === true
    const ts = Math.floor(Date.now() / 1_000) - signedInAgo
    const result = { login: { accountId: person.sub, ts }, consent: {} }
    if (isInteraction) void provider.interactionFinished(request, response, result)
    else void callback(request, response)
  })
  return {
    issuer,
    setPerson(next: Person) {
      person = next
    },
    /** Seconds since the person authenticated, for the sign-ins that follow. */
    setSignedInAgo(seconds: number) {
      signedInAgo = seconds
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function configuration(redirectUris: readonly string[], person: () => Person): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['only for tests'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...person(), sub: id }) }),
    // Consent is given by whoever runs the provider.
    async loadExistingGrant(context) {
      const { client, session, provider } = context.oidc
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}
