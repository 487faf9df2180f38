import { canonicalize } from '@agent-exchange/crypto'

/** Names of members that two objects do not have alike; a missing member differs from any value. */
export function differingMembers(left: object, right: object): string[] {
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].filter((name) => textOf(left, name) !== textOf(right, name)).toSorted()
}

function textOf(object: object, name: string): string | undefined {
  const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
  return value === undefined ? undefined : canonicalize(value)
}
