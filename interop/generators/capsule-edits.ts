/** A JSON pointer (RFC 6901) and the new value; null removes the member. */
export type Edit = readonly [pointer: string, value: unknown]

const DEEPEST = 4

/** Edits that turn one value into another, each as deep as members, and elements of lists of one length, allow. */
export function editsBetween(before: unknown, after: unknown, pointer = '', depth = 0): Edit[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const isDeep = depth < DEEPEST && isContainer(before) && isContainer(after)
  if (!isDeep || !isSameKind(before, after)) return [[pointer, after]]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const at = `${pointer}/${name}`
    if (!Object.hasOwn(after, name)) return [[at, null] as const]
    return editsBetween(Reflect.get(before, name), Reflect.get(after, name), at, depth + 1)
  })
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isSameKind(before: object, after: object): boolean {
  if (Array.isArray(before) !== Array.isArray(after)) return false
  return !Array.isArray(before) || before.length === (after as unknown[]).length
}
