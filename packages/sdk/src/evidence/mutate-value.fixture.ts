/** One mutation of a JSON value. `value` is a fresh copy. */
export interface Mutation {
  /** Such as `remove /packages/0/entries/3`. */
  readonly name: string
  readonly value: unknown
}

type Path = readonly (string | number)[]
type Container = Record<string | number, unknown>

/** Of values at the same place of the items of lists, this many are spelled in every way, and the others changed once. */
const SPELLED = 1

/** Changes, removes, adds, swaps and reorders every member, item, and line of a text, one at a time. */
export function* mutationsOf(
  whole: unknown,
  path: Path = [],
  seen = new Map<string, number>(),
): Generator<Mutation> {
  const part = valueAt(whole, path)
  const place = path.map((step) => (typeof step === 'number' ? '*' : step)).join('/')
  const count = (seen.get(place) ?? 0) + 1
  seen.set(place, count)
  if (!isContainer(part)) {
    const changes = scalarChanges(part)
    for (const [how, other] of count > SPELLED ? changes.slice(0, 1) : changes)
      yield at(whole, path, how, () => other)
    return
  }
  if (Array.isArray(part)) yield* listChanges(whole, path, part)
  else yield* memberChanges(whole, path, part, count <= SPELLED)
  for (const name of Object.keys(part))
    yield* mutationsOf(whole, [...path, Array.isArray(part) ? Number(name) : name], seen)
}

function* memberChanges(
  whole: unknown,
  path: Path,
  part: Container,
  isSwapped: boolean,
): Generator<Mutation> {
  yield at(whole, path, 'add a member to', (own) => ({ ...(own as Container), added: 'x' }))
  const names = Object.keys(part)
  for (const [index, name] of names.entries()) {
    yield at(whole, [...path, name], 'remove', () => undefined)
    const other = names[index + 1]
    if (other !== undefined && isSwapped)
      yield at(whole, [...path, name], `swap with ${other}`, undefined, [...path, other])
  }
}

function* listChanges(whole: unknown, path: Path, part: readonly unknown[]): Generator<Mutation> {
  yield at(whole, path, 'empty', () => [])
  yield at(whole, path, 'reverse', (own) => (own as unknown[]).toReversed())
  for (const index of part.keys()) {
    const place = `${index} of`
    yield at(whole, path, `remove ${place}`, (own) => (own as unknown[]).toSpliced(index, 1))
    yield at(whole, path, `repeat ${place}`, (own) => (own as unknown[]).toSpliced(index, 0, part[index]))
    yield at(whole, path, `append ${place}`, (own) => [...(own as unknown[]), part[index]])
    yield at(whole, path, `cut from ${place}`, (own) => (own as unknown[]).slice(0, index))
    yield at(whole, path, `move to the front ${place}`, (own) => [
      (own as unknown[])[index],
      ...(own as unknown[]).toSpliced(index, 1),
    ])
    const other = index + 1
    if (other === part.length) continue
    yield at(whole, [...path, index], `swap with ${other}`, undefined, [...path, other])
    if (index < SPELLED) yield* exchangedMembers(whole, [...path, index], [...path, other])
  }
}

/** The same member of two items of a list. */
function* exchangedMembers(whole: unknown, one: Path, other: Path): Generator<Mutation> {
  const [first, second] = [valueAt(whole, one), valueAt(whole, other)]
  if (!isContainer(first) || !isContainer(second)) return
  for (const name of new Set([...Object.keys(first), ...Object.keys(second)])) {
    yield at(whole, [...one, name], `copy from item ${other.at(-1)}`, () => second[name])
    yield at(whole, [...other, name], `copy from item ${one.at(-1)}`, () => first[name])
    yield at(whole, [...one, name], `swap with item ${other.at(-1)}`, undefined, [...other, name])
  }
}

function scalarChanges(value: unknown): (readonly [how: string, other: unknown])[] {
  if (typeof value === 'number')
    return [1, -1, 1_000].map((more) => [`add ${more} to`, value + more] as const)
  if (typeof value === 'boolean') return [['negate', !value]]
  if (typeof value !== 'string') return [['replace', 'x']]
  const spellings: readonly (readonly [string, string])[] = [
    ['change the last letter of', changedAtEnd(value)],
    ['change the first character of', `${otherLetter(value[0] ?? '')}${value.slice(1)}`],
    ['change a letter in the middle of', changedInside(value)],
    ['empty', ''],
    ['shorten', value.slice(0, -1)],
    ['pad', `${value}=`],
    ['append a space to', `${value} `],
    ['append a line break to', `${value}\n`],
    ['prepend a zero to', `0${value}`],
    ['write in upper case', value.toUpperCase()],
    ['write in lower case', value.toLowerCase()],
    ['spell in the other base64 of', otherBase64(value)],
    ['spell the time otherwise in', value.replace(/Z$/u, '+00:00')],
    ['add digits to the time in', value.replace(/(\.\d+)Z$/u, '$10Z')],
    ['decompose', value.normalize('NFD')],
    ...lineChanges(value),
  ]
  return spellings.filter(([, other]) => other !== value)
}

function lineChanges(text: string): (readonly [string, string])[] {
  const lines = text.split('\n')
  if (lines.length < 3) return []
  return lines.flatMap((line, index) => [
    [`remove line ${index} of`, lines.toSpliced(index, 1).join('\n')] as const,
    [`repeat line ${index} of`, lines.toSpliced(index, 0, line).join('\n')] as const,
    [`change line ${index} of`, lines.with(index, changedAtEnd(line)).join('\n')] as const,
    [`change the first character of line ${index} of`, lines.with(index, `x${line}`).join('\n')] as const,
    [`append a space to line ${index} of`, lines.with(index, `${line} `).join('\n')] as const,
    [`pad line ${index} of`, lines.with(index, `${line}=`).join('\n')] as const,
    [`swap line ${index} with the next of`, swappedLines(lines, index).join('\n')] as const,
  ])
}

function swappedLines(lines: readonly string[], index: number): string[] {
  const [one, two] = [lines[index] ?? '', lines[index + 1]]
  return two === undefined ? [...lines] : lines.with(index, two).with(index + 1, one)
}

function otherBase64(text: string): string {
  return text.replace(/[-_+/]/gu, (letter) => ({ '-': '+', _: '/', '+': '-', '/': '_' })[letter] ?? letter)
}

function changedAtEnd(text: string): string {
  const place = text.search(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/u)
  return place < 0 ? `${text}x` : replacedAt(text, place)
}

function changedInside(text: string): string {
  return replacedAt(text, Math.floor(text.length / 2))
}

function replacedAt(text: string, place: number): string {
  return `${text.slice(0, place)}${otherLetter(text[place] ?? '')}${text.slice(place + 1)}`
}

function otherLetter(letter: string): string {
  if (/\d/u.test(letter)) return String((Number(letter) + 1) % 10)
  return letter === 'a' ? 'b' : 'a'
}

function at(
  whole: unknown,
  path: Path,
  how: string,
  change: ((own: unknown) => unknown) | undefined,
  other?: Path,
): Mutation {
  const copy: unknown = structuredClone(whole)
  const name = `${how} /${path.join('/')}`
  if (path.length === 0) return { name, value: change?.(copy) }
  const own = valueAt(copy, path)
  if (other) {
    set(copy, path, valueAt(copy, other))
    set(copy, other, own)
  } else set(copy, path, change?.(own))
  return { name, value: copy }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (isContainer(inner) ? inner[step] : undefined), value)
}

/** Undefined removes the member. */
function set(value: unknown, path: Path, member: unknown): void {
  const holder = valueAt(value, path.slice(0, -1))
  const last = path.at(-1)
  if (!isContainer(holder) || last === undefined) return
  if (member === undefined) delete holder[last]
  else holder[last] = structuredClone(member)
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
