import { createHmac, hash, type KeyObject } from 'node:crypto'

const CORRELATION_ID = /^corr_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const HEX_CHARACTERS = 32

/** An audit event's correlation id: the header's value where it has that form, else one derived from it. */
export function correlationIdFor(header: string): string {
  if (CORRELATION_ID.test(header)) return header
  return `corr_${hash('sha256', header, 'hex').slice(0, HEX_CHARACTERS)}`
}

/** An audit event's idempotency key. Keyed, because the header itself is shown to nobody but its sender. */
export function idempotencyIdFor(organizationId: string, header: string, secret: KeyObject): string {
  const mac = createHmac('sha256', secret).update(`idempotency\0${organizationId}\0${header}`)
  return `idem_${mac.digest('hex').slice(0, HEX_CHARACTERS)}`
}
