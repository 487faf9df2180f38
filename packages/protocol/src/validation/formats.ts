import { parseInstant } from '../instants.ts'

// RFC 3986: a scheme, then only characters that a URI may hold.
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/

/** Stricter than the usual plug-in, which takes a space for the `T` and normalizes nothing. */
export const formats = {
  'date-time': (text: string) => parseInstant(text) !== undefined,
  uri: ABSOLUTE_URI,
}
