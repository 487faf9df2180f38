/**
 * Renames the members of an SDK value to snake case, as in the protocol. Not for maps with arbitrary keys.
 */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), snakeCased(member)]))
}

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
}
