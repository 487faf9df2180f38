/**
 * Renames the members of an SDK value to snake case, as in the protocol. Not for maps with arbitrary keys: members whose
 * values have them are named in `free` and stay as they are.
 */
export function snakeCased(value: unknown, free: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => snakeCased(item, free))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      snake(name),
      free.includes(name) ? member : snakeCased(member, free),
    ]),
  )
}

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
}
