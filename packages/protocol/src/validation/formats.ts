import { parseInstant } from '../instants.ts'

// RFC 3986: a scheme, then only characters that are allowed in a URI.
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/

/** Stricter than ajv-formats, which accepts a space instead of `T`. */
export const formats = {
  'date-time': (text: string) => parseInstant(text) !== undefined,
  uri: ABSOLUTE_URI,
}
