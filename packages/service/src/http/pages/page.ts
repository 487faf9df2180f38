import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A static page, rendered once. */
export interface Page {
  readonly body: string
  readonly mediaType: string
  readonly etag: string
  readonly contentSecurityPolicy: string
  readonly cacheControl: string
}

/** For pages that change only with a release or a new profile. */
const FIVE_MINUTES = 'public, max-age=300'
/** For files that depend on others of the same release: cached, but always revalidated. */
export const REVALIDATE = 'public, no-cache'

/** Content-Security-Policy that forbids loading, running, sending and framing anything. */
const DENY_ALL_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A public page loads files of this site. It has no form, so it may send none. */
export const PUBLIC_POLICY = `${DENY_ALL_POLICY}; style-src 'self'; script-src 'self'; img-src 'self'`

export function page(body: string, mediaType: string, options: Partial<Page> = {}): Page {
  return {
    body,
    mediaType,
    // RFC 9110 section 8.8.3: derived from the content, so that all replicas send the same tag.
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    contentSecurityPolicy: DENY_ALL_POLICY,
    cacheControl: FIVE_MINUTES,
    ...options,
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Indented, like the published files. */
export function jsonPage(value: unknown): Page {
  return page(`${JSON.stringify(value, undefined, 2)}\n`, JSON_TYPE)
}

/** For large documents that programs read. */
export function compactJsonPage(value: unknown): Page {
  return page(JSON.stringify(value), JSON_TYPE)
}

export function sendPage(request: FastifyRequest, reply: FastifyReply, shown: Page): FastifyReply {
  reply
    .header('etag', shown.etag)
    .header('cache-control', shown.cacheControl)
    .header('content-security-policy', shown.contentSecurityPolicy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
  if (isKnown(request.headers['if-none-match'], shown.etag)) return reply.code(304).send()
  return reply.header('content-type', shown.mediaType).send(shown.body)
}

/** RFC 9110 section 13.1.2: `*` or a list of tags, compared weakly. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//u, '')))
}
