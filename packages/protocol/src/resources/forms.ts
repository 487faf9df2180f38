import { Type, type TObjectOptions, type TProperties, type TStringOptions } from 'typebox'
import { ours, proves } from '../schema/annotations.ts'

/** What a caller sends. Closed, because a place for unknown members would be a place for plaintext (O-29). */
export function request<P extends TProperties>(properties: P, options: TObjectOptions = {}) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...proves({ additionalProperties: 'O-29' }),
    ...options,
  })
}

/** What we answer. Open, so that a reader does not break over a member added later. */
export function resource<P extends TProperties>(properties: P, options: TObjectOptions = {}) {
  return Type.Object(properties, options)
}

/** A name that stands in a path or refers to something; its length is bounded by the profile (O-14). */
export const name = Type.String({ minLength: 1, ...proves({ minLength: 'O-14' }) })
export const text = Type.String()
export const uri = Type.String({ format: 'uri', description: 'an absolute URI' })

/** An opaque cursor. Clients keep and return it; they never make one. */
export const cursor = Type.String({
  minLength: 1,
  description: 'an opaque cursor that an earlier page returned',
})

export const strings = Type.Array(Type.String())

/** A page of a collection whose end has no further cursor. */
export const lastPageHasNoCursor = Type.Union([cursor, Type.Null()])

const B = '[A-Za-z0-9_-]'
/** The last character of a group that is not full: its unused bits are zero (RFC 4648 section 3.5). */
const AFTER_ONE_BYTE = '[AQgw]'
const AFTER_TWO_BYTES = '[AEIMQUYcgkosw048]'

/** Bytes in base64url without padding (RFC 7515 section 2), not empty. */
export const base64url = (description: string, options: TStringOptions = {}) =>
  Type.String({
    contentEncoding: 'base64url',
    minLength: 2,
    // Written out: with `{4}` the engine keeps a place for each group, and runs out of stack over a long text.
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

/** A map from names to text. Not Type.Record: its pattern overlooks names with line breaks. */
export const textByName = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})

/** Open points that set the default and the maximum of a page. */
export const PAGE_POINTS = ['O-07', 'O-15', 'O-40'] as const
export type PagePoint = (typeof PAGE_POINTS)[number]

export const pageParameters = (point: PagePoint) => ({
  after: Type.Optional(cursor),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'how many items at most', ...ours(point) })),
})
