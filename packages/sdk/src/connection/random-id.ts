const RANDOM_BYTES = 16

/** An unguessable, unique id: a prefix and 128 random bits. */
export function randomId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  return `${prefix}_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
