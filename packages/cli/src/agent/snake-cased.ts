/**
 * A value of the SDK as the command line shows it: members are named as those of the protocol are. For values whose
 * members are all names, never for maps of somebody's data.
 */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), snakeCased(member)]))
}

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
}
