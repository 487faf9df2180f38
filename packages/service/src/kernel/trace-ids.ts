import { createHmac, hash, type KeyObject } from 'node:crypto'

const CORRELATION_ID = /^corr_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const HEX_CHARACTERS = 32

/** The correlation id of an audit event: the header's value if it has that form, otherwise derived from it. */
export function correlationIdFor(header: string): string {
  if (CORRELATION_ID.test(header)) return header
  return `corr_${hash('sha256', header, 'hex').slice(0, HEX_CHARACTERS)}`
}

/** The idempotency key of an audit event. An HMAC, because nobody but the sender may see the header. */
export function idempotencyIdFor(organizationId: string, header: string, secret: KeyObject): string {
  const mac = createHmac('sha256', secret).update(`idempotency\0${organizationId}\0${header}`)
  return `idem_${mac.digest('hex').slice(0, HEX_CHARACTERS)}`
}
