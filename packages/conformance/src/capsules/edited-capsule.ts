/** A JSON pointer (RFC 6901) without escapes, and the new value; null removes the member. */
export type Edit = readonly [pointer: string, value: unknown]

export function editedCapsule(capsule: unknown, edits: readonly Edit[]): unknown {
  return edits.reduce(
    (value, [pointer, change]) => changedAt(value, pointer.split('/').slice(1), change),
    capsule,
  )
}

function changedAt(value: unknown, [step, ...rest]: readonly string[], change: unknown): unknown {
  if (step === undefined) return change
  const copy = (Array.isArray(value) ? [...value] : { ...Object(value) }) as Record<string, unknown>
  const next = rest.length === 0 ? change : changedAt(copy[step], rest, change)
  if (next !== null) copy[step] = next
  else if (Array.isArray(copy)) copy.splice(Number(step), 1)
  else delete copy[step]
  return copy
}
