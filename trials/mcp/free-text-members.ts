import { validateObject, type ProtocolObject } from '@agent-exchange/protocol'

type Path = readonly (string | number)[]

const PROBE = 'Any text at all.'

/** Paths of the members of an object in which any text is valid, each with a text in the object. */
export function freeTextMembers(object: ProtocolObject): Path[] {
  return [...textsIn(object, [])].filter((path) => validateObject(withText(object, [path], PROBE)).valid)
}

function* textsIn(value: unknown, path: Path): Generator<Path> {
  if (typeof value === 'string') yield path
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* textsIn(member, [...path, Array.isArray(value) ? Number(name) : name])
}

/** A copy of the object with the text in all these members. Texts that must differ get a number. */
export function withText<T extends ProtocolObject>(object: T, paths: readonly Path[], text: string): T {
  const copy = structuredClone(object)
  paths.forEach((path, index) => {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((value, name) => Reflect.get(value as object, name), copy)
    const isListed = typeof path.at(-1) === 'number'
    Reflect.set(parent as object, path.at(-1) ?? '', isListed ? `${text} ${index}` : text)
  })
  return copy
}
