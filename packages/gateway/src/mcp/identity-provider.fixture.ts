import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

const LIFE_SECONDS = 300

/** The company's identity provider: metadata, keys and tokens with the claims that a test wants. */
export async function startIdentityProvider(now: () => Date) {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }]
  const server = createServer((request, response) => {
    const isKeys = request.url === '/keys'
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isKeys ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    token(audience: string, scope: string, claims: object = {}): Promise<string> {
      const iat = Math.floor(now().getTime() / 1_000)
      return new SignJWT({ sub: 'assistant', iat, exp: iat + LIFE_SECONDS, scope, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(privateKey)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
