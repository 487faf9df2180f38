import { createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto'
import { parseObject } from '../wire/wire.ts'

export interface TokenAnswer {
  readonly status: number
  readonly body: object
}

const LIFETIME_SECONDS = 300
const MAXIMUM_TOKENS = 1_000
const decode = (part = '') => Buffer.from(part, 'base64url')

/** Discovery by RFC 9728 and RFC 8414, and a token endpoint that takes client assertions (RFC 7523). */
export class TokenIssuer {
  /** The public key of the agent's client; without it no assertion counts. */
  clientJwk: object | undefined
  readonly #baseUrl: string
  readonly #clientId: string
  readonly #tokens = new Set<string>()
  readonly #used = new Set<string>()

  constructor(baseUrl: string, clientId: string) {
    this.#baseUrl = baseUrl
    this.#clientId = clientId
  }

  metadata(path: string): object | undefined {
    const base = this.#baseUrl
    if (path === '/.well-known/oauth-protected-resource')
      return { resource: base, authorization_servers: [base] }
    if (path !== '/.well-known/oauth-authorization-server') return undefined
    return {
      issuer: base,
      token_endpoint: `${base}/oauth/token`,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
    }
  }

  issue(form: URLSearchParams): TokenAnswer {
    if (
      form.get('grant_type') !== 'client_credentials' ||
      !this.#isClient(form.get('client_assertion') ?? '')
    )
      return { status: 401, body: { error: 'invalid_client' } }
    if (this.#tokens.size >= MAXIMUM_TOKENS) return { status: 429, body: { error: 'slow_down' } }
    const token = randomBytes(24).toString('base64url')
    this.#tokens.add(token)
    return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_SECONDS } }
  }

  accepts(authorization: string | undefined): boolean {
    const [scheme, token] = (authorization ?? '').split(' ')
    return scheme?.toLowerCase() === 'bearer' && token !== undefined && this.#tokens.has(token)
  }

  #isClient(assertion: string): boolean {
    const [header, claims, signature] = assertion.split('.')
    const { iss, sub, aud, jti, exp } = parseObject(decode(claims).toString())
    const audiences: unknown[] = Array.isArray(aud) ? aud : [aud]
    const isOurs = audiences.some((each) => each === this.#baseUrl || each === `${this.#baseUrl}/oauth/token`)
    const isFresh = Number(exp) * 1_000 > Date.now() && !this.#used.has(String(jti))
    if (!this.clientJwk || !isOurs || !isFresh || iss !== this.#clientId || sub !== iss) return false
    const key = createPublicKey({ key: this.clientJwk as JsonWebKey, format: 'jwk' })
    const message = Buffer.from(`${header}.${claims}`)
    const isSigned = verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, decode(signature))
    if (isSigned) this.#used.add(String(jti))
    return isSigned
  }
}
