/** Flags of V8 and variables of the environment that a process is measured with. */
export interface FlagSet {
  /** For `--flags`. */
  readonly name: string
  readonly settings: readonly string[]
}

/** The baseline of every other set. */
export const NO_FLAGS: FlagSet = { name: 'no flag', settings: [] }

/** What revision 34910d1 set at its start, one by one and together. */
const GROWING = '--heap-growing-percent=400'
const RETAIN_MAPS = '--retain-maps-for-n-gc=1000'
const NO_REDUCER = '--no-memory-reducer-favors-memory'
const NO_PRETENURING = '--no-allocation-site-pretenuring'

/** In the order of the table. */
export const FLAG_SETS: readonly FlagSet[] = [
  { name: 'heap-growing', settings: [GROWING] },
  { name: 'retain-maps', settings: [RETAIN_MAPS] },
  { name: 'memory-reducer', settings: [NO_REDUCER] },
  { name: 'pretenuring', settings: [NO_PRETENURING] },
  { name: 'first-release', settings: [GROWING, RETAIN_MAPS, NO_REDUCER, NO_PRETENURING] },
  { name: 'semi-space-4', settings: ['--max-semi-space-size=4'] },
  { name: 'semi-space-8', settings: ['--max-semi-space-size=8'] },
  { name: 'semi-space-32', settings: ['--max-semi-space-size=32'] },
  { name: 'old-space-128', settings: ['--max-old-space-size=128'] },
  { name: 'for-size', settings: ['--optimize-for-size'] },
  { name: 'semi-space-8-for-size', settings: ['--max-semi-space-size=8', '--optimize-for-size'] },
  { name: 'arenas-2', settings: ['MALLOC_ARENA_MAX=2'] },
  { name: 'semi-space-8-arenas-2', settings: ['--max-semi-space-size=8', 'MALLOC_ARENA_MAX=2'] },
]

const FLAG = /^--[a-z]/u
const VARIABLE = /^[A-Z_]+=/u

/** Reads the values of `--flags`: names, settings, or `none`. */
export function parseFlagSets(values: readonly string[]): readonly FlagSet[] | 'unknown' {
  if (values.length === 1 && values[0] === 'none') return []
  const sets: FlagSet[] = []
  for (const value of values) {
    const settings = value.split(' ').filter(Boolean)
    const named = FLAG_SETS.find(({ name }) => name === value)
    const isGiven = settings.length > 0 && settings.every((each) => FLAG.test(each) || VARIABLE.test(each))
    if (named) sets.push(named)
    else if (isGiven) sets.push({ name: value, settings })
    else return 'unknown'
  }
  return sets
}

/** Flags of V8, and variables of the environment. */
export function settingsOf({ settings }: FlagSet): { flags: string[]; env: Record<string, string> } {
  const variables = settings.filter((each) => !FLAG.test(each))
  return {
    flags: settings.filter((each) => FLAG.test(each)),
    env: Object.fromEntries(
      variables.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
    ),
  }
}
