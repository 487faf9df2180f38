import { generateKeyPairSync, sign } from 'node:crypto'
import type { LineProcess } from '../run/line-process.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = () => publicKey.export({ format: 'jwk' })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function assertion(audience: string, clientId: string): string {
  const exp = Math.floor(Date.now() / 1_000) + 60
  const text = `${encode({ alg: 'ES256' })}.${encode({ iss: clientId, sub: clientId, aud: audience, jti: 'j', exp })}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** An agent that registers, and then opens whatever it is given. */
export function carelessAgent(): LineProcess {
  let given: Record<string, string> = {}
  const register = async () => {
    const base = given['base_url'] ?? ''
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion: assertion(base, given['client_id'] ?? ''),
    })
    const answer = await fetch(`${base}/oauth/token`, { method: 'POST', body })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    const key = { format: 'jwk', public_key: jwk(), valid_from: '2026-01-01T00:00:00Z' }
    await fetch(`${base}/v1/agents/register`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-correlation-id': 'corr_1',
        'idempotency-key': 'idem_1',
      },
      body: JSON.stringify({
        organization_id: given['organization_id'],
        agent_id: given['agent_id'],
        implementation: 'careless',
        implementation_version: '1',
        protocol_versions: ['svc/1.0'],
        keys: [
          { ...key, key_id: 'k1', use: 'signing' },
          { ...key, key_id: 'k2', use: 'encryption' },
        ],
      }),
    })
    return {}
  }
  return {
    async ask(question) {
      const { command, ...values } = question as Record<string, string>
      if (command === 'create') given = values
      if (command === 'create') return { client_jwk: jwk() }
      if (command === 'register') return register()
      if (command === 'open') return { opened: true, object: {} }
      return { unsupported: true }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
