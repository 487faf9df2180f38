const ALLOWED_SCHEME = /^(?:https?|mailto):/iu
const ANY_SCHEME = /^[a-z][a-z\d+.-]*:/iu
/** Browsers strip or reinterpret these characters, so that `java\nscript:` or `/\host` become something else. */
// oxlint-disable-next-line no-control-regex
const REINTERPRETED = /[\u0000-\u0020\u007f\\]/u

/** What a refused address becomes: a link that leads nowhere and says why in the status bar. */
const BLOCKED_ADDRESS = '#blocked-address'
const BLOCKED_COMPONENT = 'blocked'

/** An address that may be linked to: http, https, mailto, or relative to this origin. */
export function checkedAddress(address: string): string {
  if (REINTERPRETED.test(address) || address.startsWith('//')) return BLOCKED_ADDRESS
  return ANY_SCHEME.test(address) && !ALLOWED_SCHEME.test(address) ? BLOCKED_ADDRESS : address
}

/** An address on this site: relative, whatever the host is called. */
export function checkedOwnAddress(address: string): string {
  return ANY_SCHEME.test(address) ? BLOCKED_ADDRESS : checkedAddress(address)
}

/** One path segment or query value. Dot segments would change the path even when they are percent-encoded. */
export function addressComponent(value: string): string {
  return /^\.{1,2}$/u.test(value) ? BLOCKED_COMPONENT : encodeURIComponent(value.toWellFormed())
}
