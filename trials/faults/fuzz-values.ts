/** A seeded pseudo-random number generator (mulberry32). */
export interface Chance {
  /** An integer from 0 to below the limit. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
  isLikely(percent: number): boolean
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick<T>(list: readonly T[]) {
      const item = list[below(list.length)]
      if (item === undefined) throw new Error('the list is empty')
      return item
    },
    isLikely: (percent) => next() * 100 < percent,
  }
}

const TAIL = 'A'.repeat(128)
const lengths = [1, 36, 127, 128, 129, 134, 255, 256, 257, 1_024, 4_096, 4_097, 70_000]

/** Strings that are known to break programs. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u0001\u001f\u007f',
  '\ufeff',
  '\u202e\u200b',
  '\ud83d\ude97',
  '\ud800',
  'x\udc00',
  'e\u0301',
  '%00',
  '../../etc/passwd',
  "'; drop table package; --",
  '{"a":1}',
  '${7*7}{{7*7}}',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '-1',
  '1e999',
  '\r\nX-Injected: 1',
  'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
  'org_platform',
  'agent_platform',
  `pkg_${TAIL}`,
  `pkg_${TAIL}A`,
  'thread_',
  'svc/1.0',
  'svc/99999999999999999999.0',
  'https://agent.example/hook',
  'https://[::1]:0/',
  '2026-02-29T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '9999-12-31T23:59:60Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00.0000000000000000000001Z',
  '2026-01-01T00:00:00+00:00',
  '2026-01-01T00:00:00-00:00',
  '1969-12-31T23:59:59Z',
  ...lengths.map((length) => 'x'.repeat(length)),
]

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  1.5,
  2 ** 31,
  2 ** 53 - 1,
  1e21,
  1.7976931348623157e308,
  5e-324,
  [],
  {},
  [[]],
  [null],
  { '': '' },
  { toString: 1 },
  Array.from({ length: 1_001 }, () => 'x'),
  deep(30),
  deep(60),
]

function deep(levels: number): unknown {
  return levels === 0 ? 1 : [deep(levels - 1)]
}

/** Changes one value of a document: replaces, resizes, removes or adds a member. */
export function mutated(document: unknown, chance: Chance): unknown {
  const places = placesIn(document)
  const place = chance.pick(places)
  return changeAt(document, place, (value) => changedValue(value, chance))
}

const REMOVED = Symbol('removed')

function changedValue(value: unknown, chance: Chance): unknown {
  const kind = chance.below(10)
  if (kind === 0) return REMOVED
  if (kind === 1) return chance.pick(ODD_VALUES)
  if (kind === 2 && isContainer(value)) return withMore(value, chance)
  if (typeof value === 'string') return changedText(value, chance)
  if (typeof value === 'number') return chance.pick([-1, 0, value + 1, value + 0.5, 2 ** 53, String(value)])
  if (typeof value === 'boolean') return chance.pick([!value, String(value), 0, null])
  return chance.pick(ODD_VALUES)
}

function changedText(text: string, chance: Chance): string {
  const at = chance.below(text.length + 1)
  switch (chance.below(6)) {
    case 0:
      return text.slice(0, at) + chance.pick(ODD_TEXTS) + text.slice(at)
    case 1:
      return text.slice(0, at)
    case 2:
      return text.slice(0, at) + chance.pick(['A', '_', '-', '=', '\0', 'é', ' ', '+']) + text.slice(at + 1)
    case 3:
      return text.padEnd(chance.pick(lengths), 'Z')
    case 4:
      return text.toUpperCase()
    default:
      return chance.pick(ODD_TEXTS)
  }
}

function withMore(value: object, chance: Chance): unknown {
  if (Array.isArray(value)) return [...(value as unknown[]), value[0] ?? chance.pick(ODD_VALUES)]
  const name = chance.pick(['unknown', '', '__proto__', 'constructor', 'd', 'x'.repeat(300), 'a\0'])
  return Object.fromEntries([...Object.entries(value), [name, chance.pick(ODD_VALUES)]])
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = isContainer(value)
    ? Object.entries(value).flatMap(([name, each]) => placesIn(each, [...path, name]))
    : []
  return [path, ...inner]
}

function changeAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) {
    const changed = change(value)
    return changed === REMOVED ? {} : changed
  }
  const entries = Object.entries(value as object).flatMap(([each, inner]) => {
    if (each !== name) return [[each, inner] as const]
    const changed = rest.length === 0 ? change(inner) : changeAt(inner, rest, change)
    return changed === REMOVED ? [] : [[each, changed] as const]
  })
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}
