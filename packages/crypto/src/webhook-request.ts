import { HEADER, WEBHOOK_SIGNATURE } from '@agent-exchange/protocol'
import { CryptoError } from './errors.ts'
import { trimBlanks } from './optional-whitespace.ts'

/**
 * Header fields as received: pairs (`Headers`, or `rawHeaders` of Node in pairs) or a record (`headersDistinct` of Node).
 * `headers` of Node drops a repeated Content-Type, so prefer the others.
 */
export type HeaderFields =
  | Iterable<readonly [name: string, value: string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The fields of a signed delivery, by lower-case name. */
export const SIGNED_FIELDS = [
  'content-digest',
  'content-type',
  HEADER.deliveryId,
  HEADER.eventId,
  HEADER.deliveryAttempt,
] as const

export type FieldName = (typeof SIGNED_FIELDS)[number] | 'signature' | 'signature-input'

/** RFC 9421 section 2.1: every instance in order, unfolded, trimmed, joined by a comma and a space. */
export function fieldValue(headers: HeaderFields, name: FieldName): string | undefined {
  const values = instances(headers)
    .filter(([field]) => field.toLowerCase() === name)
    .map(([, value]) =>
      trimBlanks(
        value
          .split(/\r\n(?=[ \t])/)
          .map(trimBlanks)
          .join(' '),
      ),
    )
  return values.length === 0 ? undefined : values.join(', ')
}

function instances(headers: HeaderFields): (readonly [string, string])[] {
  if (Symbol.iterator in headers) return [...headers]
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((instance) => [name, instance] as const),
  )
}

/**
 * RFC 9421 sections 2.2.3 and 2.2.6: the authority in lower case without the default port, and an empty
 * path as a slash. The URL parser does both.
 */
export function readTarget(address: string): { authority: string; path: string; href: string } {
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new CryptoError('webhook_value', { at: 'url' })
  }
  if (url.hash !== '') url.hash = ''
  return { authority: url.host, path: url.pathname, href: url.href }
}

/** The covered components as Signature-Input lists them. */
export const COMPONENT_LIST = `(${WEBHOOK_SIGNATURE.components.map((name) => `"${name}"`).join(' ')})`
