import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** One thing that can be served as it is: made once, when the listener is built. */
export interface Page {
  readonly body: string
  readonly mediaType: string
  readonly etag: string
  readonly contentSecurityPolicy: string
  readonly cacheControl: string
}

/** For what changes only with a release or a new profile. */
const FIVE_MINUTES = 'public, max-age=300'
/** Where one file needs others of the same release: kept, but asked about each time. */
export const REVALIDATE = 'public, no-cache'

/** Nothing may be loaded, run, sent or framed. */
export const NOTHING_ALLOWED =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function page(body: string, mediaType: string, options: Partial<Page> = {}): Page {
  return {
    body,
    mediaType,
    // RFC 9110 section 8.8.3: the same bytes, the same tag, on every replica.
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    contentSecurityPolicy: NOTHING_ALLOWED,
    cacheControl: FIVE_MINUTES,
    ...options,
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Laid out for reading, as the published files are. */
export function jsonPage(value: unknown): Page {
  return page(`${JSON.stringify(value, undefined, 2)}\n`, JSON_TYPE)
}

/** For what is large and read by programs. */
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

/** RFC 9110 section 13.1.2: a list of tags, compared weakly, or anything at all. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//u, '')))
}
