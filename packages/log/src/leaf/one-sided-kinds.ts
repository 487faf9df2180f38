/** Who may read the body of an entry: both parties of the package, or one of their organizations. */
export const VISIBILITIES = ['both', 'one'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/**
 * The closed table of kinds that only one organization may see. The other party gets a placeholder with the hash of the
 * body, so a body of these kinds has to hold a random id: without one, its hash could be guessed. A receipt or a
 * revocation must never be in this table.
 */
export const ONE_SIDED_KINDS: ReadonlySet<string> = new Set(['delivery_replayed'])

export function visibilityOf(kind: string): Visibility {
  return ONE_SIDED_KINDS.has(kind) ? 'one' : 'both'
}
