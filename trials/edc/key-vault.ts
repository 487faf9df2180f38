import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const PRIVATE_KEY = 'token-private-key'
export const PUBLIC_KEY = 'token-public-key'

export interface KeyVault extends AsyncDisposable {
  readonly url: string
  readonly token: string
}

/**
 * A key-value vault (HashiCorp's KV version 2, as far as EDC uses it). EDC signs data plane tokens with a key from
 * its vault, and its built-in vault starts empty and cannot be filled from outside.
 */
export async function startKeyVault(): Promise<KeyVault> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const secrets = new Map([
    [PRIVATE_KEY, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    [PUBLIC_KEY, publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ])
  const token = randomBytes(16).toString('hex')
  const server = createServer((incoming, outgoing) => {
    const parts: Uint8Array[] = []
    incoming.on('data', (part: Uint8Array) => parts.push(part))
    incoming.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8')
      const { method, url, headers } = incoming
      const [status, answer] =
        headers['x-vault-token'] === token ? keep(secrets, method ?? '', url ?? '', body) : [403, {}]
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function keep(secrets: Map<string, string>, method: string, url: string, body: string): [number, unknown] {
  const [, name] = /^\/v1\/secret\/(?:data|metadata)\/(.+)$/u.exec(url) ?? []
  if (name === undefined) return [404, { errors: [] }]
  const key = decodeURIComponent(name)
  if (method === 'DELETE') return [secrets.delete(key) ? 204 : 404, {}]
  if (method === 'GET') {
    const content = secrets.get(key)
    return content === undefined
      ? [404, { errors: [] }]
      : [200, { data: { data: { content }, metadata: { version: 1 } } }]
  }
  const { data } = JSON.parse(body) as { data: { content: string } }
  secrets.set(key, data.content)
  return [200, { data: { created_time: '2026-01-01T00:00:00Z', version: 1 } }]
}
