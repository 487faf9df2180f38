/** Own files alone; no inline script or style; never inside another page's frame. */
const POLICY = {
  'default-src': "'none'",
  'style-src': "'self'",
  'script-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
} as const

export type PolicyChanges = Readonly<Record<string, string>>

/** Content Security Policy. `changes` adds directives or replaces those of the table above. */
export function contentSecurityPolicy(changes: PolicyChanges = {}): string {
  const policy = Object.entries({ ...POLICY, ...changes })
  return policy.map(([directive, value]) => `${directive} ${value}`).join('; ')
}

export interface SecurityHeaderSettings {
  readonly policy?: PolicyChanges
  /** Sends Strict-Transport-Security. */
  readonly tls: boolean
}

/** A year, as RFC 6797 section 11.2 and common preload lists expect. */
const HSTS_SECONDS = 31_536_000

/** Headers of every HTML answer that shows data. Names are in lower case, as Node writes them. */
export function securityHeaders({ policy, tls }: SecurityHeaderSettings): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentSecurityPolicy(policy),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    // Not no-referrer: under that policy browsers send "Origin: null" with forms of this very origin.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    ...(tls ? { 'strict-transport-security': `max-age=${HSTS_SECONDS}` } : {}),
  }
}
