import assert from 'node:assert/strict'
import { canonicalize } from '@agent-exchange/crypto'
import type { EvidenceBundle } from '@agent-exchange/log'
import type { EvidenceReport } from '@agent-exchange/log'
import { relinked } from './evidence.fixture.ts'

type Path = readonly string[]
type Edit = 'change' | 'delete' | 'add'

type Verify = (bundle: EvidenceBundle) => Promise<EvidenceReport>

/**
 * Changes and deletes every plain value of a bundle, and adds a member to every object and list, one at a time: each
 * time the report has to be another one. Returns how many edits were found.
 */
export async function assertEveryMemberCounts(
  bundle: EvidenceBundle,
  verify: Verify,
  isIncluded: (path: Path) => boolean = () => true,
): Promise<number> {
  const edits = editsOf(bundle).filter(([, path]) => isIncluded(path))
  return assertFound(bundle, edits, async (edited) => canonicalize(await verify(edited)))
}

/** Repeated by the exchange from signed statements in the same evidence: left out, nothing false is claimed. */
const REDUNDANT = /\/(?:event\/(?:actor\/agent_id|decision|policy_id)|proof\/signature_form)$/
const HASHES = /\/(?:previous_)?hash$/

/**
 * The same for entries of the chain, two of each kind, where the exchange hashes and links the chain again after each
 * edit. The end of the chain is another one then, which only a copy kept elsewhere shows: so it is left out.
 */
export async function assertEveryEntryCounts(bundle: EvidenceBundle, verify: Verify): Promise<number> {
  const kinds = Map.groupBy(bundle.entries, ({ proof }) => proof.kind).values()
  const tried = new Set([...kinds].flatMap((entries) => entries.slice(0, 2)))
  const edits = editsOf(bundle).filter(([edit, [list, index, ...rest]]) => {
    const entry = list === 'entries' ? bundle.entries[Number(index)] : undefined
    const place = `/${rest.join('/')}`
    if (!entry || !tried.has(entry) || rest.length === 0 || HASHES.test(place)) return false
    return edit !== 'delete' || !REDUNDANT.test(place)
  })
  return assertFound(bundle, edits, async (edited) => {
    const report = await verify(await relinked(edited))
    return canonicalize({ ...report, chainEnd: null })
  })
}

/** Two views of one result: the verdict, and all of it. */
export interface Views {
  readonly verdict: string
  readonly whole: string
}

/** What became of every edit of a value. */
export interface EditEffects {
  readonly edits: number
  /** Edits after which the verdict is the same, and the whole result is another one. */
  readonly shownOnly: readonly string[]
  /** Edits after which the whole result is the same. */
  readonly unnoticed: readonly string[]
}

/** The same for any value. An edit is named as `change /path/to/member`. */
export async function effectsOfEdits<T extends object>(
  value: T,
  viewsOf: (value: T) => Promise<Views>,
  isIncluded: (path: Path) => boolean,
): Promise<EditEffects> {
  const original = await viewsOf(value)
  const edits = editsOf(value).filter(([, path]) => isIncluded(path))
  const [shownOnly, unnoticed]: [string[], string[]] = [[], []]
  for (const [edit, path] of edits) {
    const { verdict, whole } = await viewsOf(editedAt(value, path, edit) as T)
    const name = `${edit} /${path.join('/')}`
    if (whole === original.whole) unnoticed.push(name)
    else if (verdict === original.verdict) shownOnly.push(name)
  }
  return { edits: edits.length, shownOnly, unnoticed }
}

async function assertFound<T extends object>(
  value: T,
  edits: readonly [Edit, Path][],
  reportOf: (value: T) => Promise<string>,
): Promise<number> {
  const original = await reportOf(value)
  assert.match(original, /"verdict":"holds"/)
  const unnoticed: string[] = []
  for (const [edit, path] of edits)
    if ((await reportOf(editedAt(value, path, edit) as T)) === original)
      unnoticed.push(`${edit} /${path.join('/')}`)
  assert.deepEqual(unnoticed, [])
  return edits.length
}

function editsOf(value: unknown, path: Path = []): [Edit, Path][] {
  if (typeof value !== 'object' || value === null)
    return [
      ['change', path],
      ['delete', path],
    ]
  const inner = Object.entries(value).flatMap(([name, member]) => editsOf(member, [...path, name]))
  return [['add', path], ...inner]
}

function editedAt(value: unknown, path: Path, edit: Edit): unknown {
  const [step, ...rest] = path
  if (step === undefined) return edit === 'add' ? extended(value as object) : changed(value)
  const isLast = rest.length === 0 && edit === 'delete'
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => {
      if (String(index) !== step) return [item]
      return isLast ? [] : [editedAt(item, rest, edit)]
    })
  const members = Object.entries(value as object).flatMap(([name, item]): [string, unknown][] => {
    if (name !== step) return [[name, item]]
    return isLast ? [] : [[name, editedAt(item, rest, edit)]]
  })
  return Object.fromEntries(members)
}

function extended(value: object): unknown {
  return Array.isArray(value) ? [...(value as unknown[]), value[0] ?? 'added'] : { ...value, added: 'x' }
}

/** Another value of the same kind: one digit or letter is another one. */
function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 'x'
  const at = value.search(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/)
  const letter = value[at] ?? 'x'
  const other = /\d/.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'a' ? 'b' : 'a'
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`
}
