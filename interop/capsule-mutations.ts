import type { Edit } from './generators/capsule-edits.ts'

/** Every single edit of a value: each plain value changed and removed, each object and list extended, neighbours swapped. */
export function mutationsOf(value: unknown, pointer = ''): Edit[] {
  if (typeof value !== 'object' || value === null)
    return [
      [pointer, otherThan(value)],
      [pointer, null],
    ]
  const inner = Object.entries(value).flatMap(([name, member]) => mutationsOf(member, `${pointer}/${name}`))
  const removed: Edit[] = pointer === '' ? [] : [[pointer, null]]
  return [...removed, ...extensions(value, pointer), ...inner]
}

function extensions(value: object, pointer: string): Edit[] {
  if (!Array.isArray(value)) return [[`${pointer}/added`, 'x']]
  const list: readonly unknown[] = value
  const swapped = list.slice(1).map((item, at) => list.with(at, item).with(at + 1, list[at]))
  return [...swapped, [...list, list[0] ?? 'added']].map((changed) => [pointer, changed])
}

/** Another value of the same kind: one digit or letter is another one. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 'x'
  const at = value.search(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/u)
  const letter = value[at] ?? 'x'
  const other = /\d/u.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'a' ? 'b' : 'a'
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`
}
