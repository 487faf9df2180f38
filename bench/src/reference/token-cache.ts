import { createHash } from 'node:crypto'
import {
  decodeBase64url,
  importPublicJwk,
  verifyEs256,
  type PublicJwk,
  type PublicKey,
} from '@agent-exchange/crypto'

/** Who may send, and until when. */
export interface KnownCaller {
  readonly organizationId: string
  readonly clientId: string
  readonly expires: number
}

/** Verifies access tokens once and caches them by hash, like the service. */
export function tokenCache(jwks: readonly (PublicJwk & { readonly kid: string })[]) {
  const known = new Map<string, KnownCaller>()
  const keys = new Map<string, Promise<PublicKey>>(
    jwks.map(({ kty, crv, x, y, kid }) => [kid, importPublicJwk({ kty, crv, x, y })]),
  )

  async function verify(token: string): Promise<KnownCaller> {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { kid } = JSON.parse(text(header)) as { kid: string }
    const key = await keys.get(kid)
    const input = new TextEncoder().encode(`${header}.${payload}`)
    if (!key || !(await verifyEs256(key, input, decodeBase64url(signature)))) throw new Error('bad token')
    const { organization_id, client_id, exp } = JSON.parse(text(payload)) as Record<string, string>
    return { organizationId: organization_id ?? '', clientId: client_id ?? '', expires: Number(exp) * 1_000 }
  }

  return async (authorization: string | undefined): Promise<KnownCaller> => {
    const token = authorization?.slice('Bearer '.length) ?? ''
    const hash = createHash('sha256').update(token).digest('base64')
    const caller = known.get(hash) ?? (await verify(token))
    if (caller.expires < Date.now()) throw new Error('expired token')
    known.set(hash, caller)
    return caller
  }
}

const text = (part: string) => new TextDecoder().decode(decodeBase64url(part))
