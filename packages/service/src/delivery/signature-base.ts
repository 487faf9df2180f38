import type { WebhookHeaders } from '@agent-exchange/crypto'
import { WEBHOOK_SIGNATURE } from '@agent-exchange/protocol'

/**
 * What a signature of ours covers (RFC 9421 section 2.5), written from the request as it is sent, so that a
 * receiver's developer can compare it with their own line by line. There is nothing secret in it.
 */
export function signatureBase(method: string, url: string, headers: WebhookHeaders): string {
  const { host, pathname } = new URL(url)
  const fields = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const derived: Readonly<Record<string, string>> = {
    '@method': method,
    '@authority': host,
    '@path': pathname,
  }
  const lines = WEBHOOK_SIGNATURE.components.map(
    (name) => `"${name}": ${derived[name] ?? fields.get(name) ?? ''}`,
  )
  const parameters = headers['Signature-Input'].slice(WEBHOOK_SIGNATURE.label.length + 1)
  return [...lines, `"@signature-params": ${parameters}`].join('\n')
}
