import { Type, type TObjectOptions, type TProperties, type TStringOptions } from 'typebox'
import { ours, proves } from '../schema/annotations.ts'

/** A request body. Closed, because unknown members could contain plaintext (O-29). */
export function request<P extends TProperties>(properties: P, options: TObjectOptions = {}) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...proves({ additionalProperties: 'O-29' }),
    ...options,
  })
}

/** A response body. Open, so that a client accepts members that are added later. */
export function resource<P extends TProperties>(properties: P, options: TObjectOptions = {}) {
  return Type.Object(properties, options)
}

/** An identifier; the profile limits its length (O-14). */
export const name = Type.String({ minLength: 1, ...proves({ minLength: 'O-14' }) })
export const text = Type.String()
export const uri = Type.String({ format: 'uri', description: 'an absolute URI' })

/** An opaque cursor. Clients store and return it, and never create one. */
export const cursor = Type.String({
  minLength: 1,
  description: 'an opaque cursor that an earlier page returned',
})

export const strings = Type.Array(Type.String())

/** A page of a collection; the last page has no cursor. */
export const lastPageHasNoCursor = Type.Union([cursor, Type.Null()])

const B = '[A-Za-z0-9_-]'
/** The last character of an incomplete group; its unused bits are zero (RFC 4648 section 3.5). */
const AFTER_ONE_BYTE = '[AQgw]'
const AFTER_TWO_BYTES = '[AEIMQUYcgkosw048]'

/** Bytes in base64url without padding (RFC 7515 section 2), not empty. */
export const base64url = (description: string, options: TStringOptions = {}) =>
  Type.String({
    contentEncoding: 'base64url',
    minLength: 2,
    // Not `{4}`: the engine would overflow its stack on long strings.
    pattern: `^(?:${B}${B}${B}${B})*(?:${B}${AFTER_ONE_BYTE}|${B}{2}${AFTER_TWO_BYTES})?$`,
    description,
    ...options,
  })

/** A fixed number of bytes in base64url without padding. */
export function base64urlOf(bytes: number, description: string) {
  const whole = Math.floor(bytes / 3) * 4
  const end = ['', B + AFTER_ONE_BYTE, `${B}{2}${AFTER_TWO_BYTES}`][bytes % 3] ?? ''
  return Type.String({ contentEncoding: 'base64url', pattern: `^${B}{${whole}}${end}$`, description })
}

/** A map from names to strings. Not Type.Record, because its pattern does not match names with line breaks. */
export const textByName = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})

/** Open points that set the default and maximum page size. */
export const PAGE_POINTS = ['O-07', 'O-15', 'O-40'] as const
export type PagePoint = (typeof PAGE_POINTS)[number]

export const pageParameters = (point: PagePoint) => ({
  after: Type.Optional(cursor),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'maximum number of items', ...ours(point) })),
})
