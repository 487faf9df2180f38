import { Type, type TObjectOptions, type TProperties } from 'typebox'
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

export const base64url = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', description })

/** A map from names to text. Not Type.Record: its pattern overlooks names with line breaks. */
export const textByName = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})

export const pageParameters = {
  after: Type.Optional(cursor),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'how many items at most', ...ours('O-15') })),
}
