/** What a label of this agent would mean, if it were in the log. */
export interface Watched {
  /** For sentences. */
  readonly what: string
  /** The package or the agent of the event, and its position or number. */
  readonly subject: string
  readonly number: number
  /** Whether the exchange shows this event to its parties. */
  readonly isShown: boolean
  /** The index that the exchange says; undefined while it is pending. */
  readonly index?: number
  /** The whole leaf, where what the exchange shows determines it. */
  readonly leaf?: Uint8Array
  /** The tlog-proof that the exchange gave. */
  readonly proof?: string
}

/** By label, in hexadecimal. */
export type WatchedLabels = ReadonlyMap<string, Watched>

/** An event that the exchange shows, with the place and the proof that it gives. */
export function shownAt(
  event: { readonly index?: number; readonly proof?: string } | undefined,
): Pick<Watched, 'isShown' | 'index' | 'proof'> {
  const { index, proof } = event ?? {}
  return {
    isShown: event !== undefined,
    ...(index !== undefined && { index }),
    ...(proof !== undefined && { proof }),
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** By a table: a run makes hundreds of thousands of labels. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
