import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalize } from '@agent-exchange/crypto'
import { capsuleV3Faults, chainLinks, parsePolicy, verifyCapsule, type CapsuleV3 } from '@agent-exchange/log'
import { chainCapsuleOf, POLICY } from '@agent-exchange/testkit'
import { mutationsOf } from './capsule-mutations.ts'
import { editsBetween, type Edit } from './generators/capsule-edits.ts'
import { CHAIN_CAPSULE_FILE } from './generators/chain-capsule.ts'
import { changedAt, failingCodes, reachedBy } from './profiles/capsule.ts'
import { readFolder, VECTORS, type VectorFile } from './vector-file.ts'

const MAXIMUM_OUTPUT_BYTES = 67_108_864
/** What an operator can change and log again: everything but the proofs. */
const LOGGED =
  /^\/(?:keys|packages\/\d+\/(?:entries|policy_receipt|metadata)|log\/key_events\/\d+\/(?!proof|salt))/u

/** A capsule in which a party shows the content of a package. */
const DISCLOSING = 'disclosed-by-the-recipient'

/** The checks that fail, or what a capsule proves. */
type Verdict =
  | { readonly fails: readonly string[] }
  | Omit<Awaited<ReturnType<typeof reachedBy>>, 'origin' | 'size'>

interface Changed {
  readonly pointer: string
  readonly edits: readonly Edit[]
  readonly value: unknown
}

/** Both implementations on every nth edit of the published capsule: how many edits, and those on which they differ. */
export async function compareVerdicts(interpreter: string, nth: number) {
  const capsule = disclosingCapsule()
  const all = mutationsOf(capsule).filter((_, at) => at % nth === 0)
  const edited = all.map((edit): Changed => {
    const [pointer, value] = edit
    return { pointer, edits: [edit], value: changedAt(capsule, pointer, value) }
  })
  const forged: Changed[] = []
  for (const { pointer, value } of edited) {
    const logged = LOGGED.test(pointer) ? await loggedAgain(value) : undefined
    if (logged) forged.push({ pointer, edits: editsBetween(capsule, logged), value: logged })
  }
  const changes = [...edited, ...forged]
  const theirs = verdictsOf(interpreter, capsule, changes)
  const differing: string[] = []
  for (const [at, { pointer, value }] of changes.entries()) {
    const [ours, said] = [canonicalize(await verdictOn(value)), canonicalize(theirs[at])]
    if (ours !== said) differing.push(`${pointer}: ${ours}; there ${said}`)
  }
  return { edited: edited.length, forged: forged.length, differing }
}

/** The published capsule after the edits of a vector. */
function disclosingCapsule(): CapsuleV3 {
  const vector = readFolder<VectorFile>('.')
    .get('chain-capsule')
    ?.vectors.find(({ name }) => name === DISCLOSING)
  if (!vector) throw new Error(`there is no vector ${DISCLOSING}`)
  const { set } = vector.input as { set: readonly Edit[] }
  const published: unknown = JSON.parse(readFileSync(join(VECTORS, CHAIN_CAPSULE_FILE), 'utf8'))
  return set.reduce((value, [pointer, change]) => changedAt(value, pointer, change), published) as CapsuleV3
}

/** The edited capsule as an operator shows it who logged it so; undefined where it has no leaves. */
async function loggedAgain(value: unknown): Promise<CapsuleV3 | undefined> {
  if (capsuleV3Faults(value).length > 0) return undefined
  const capsule = value as CapsuleV3
  const isChained = capsule.packages.every(({ records, ...shown }) => {
    const { links = [] } = chainLinks(shown)
    return records.every(({ last_position }) => last_position < links.length)
  })
  // A thumbprint that is none has no leaf.
  return isChained ? chainCapsuleOf(capsule, { cosigners: 2 }).catch(() => undefined) : undefined
}

function verdictsOf(interpreter: string, capsule: CapsuleV3, changes: readonly Changed[]): Verdict[] {
  const script = join(import.meta.dirname, 'python', 'verify_capsules.py')
  const { stdout, stderr, status } = spawnSync(interpreter, ['-B', script], {
    input: JSON.stringify({ capsule, policy: POLICY, changes: changes.map(({ edits }) => edits) }),
    encoding: 'utf8',
    maxBuffer: MAXIMUM_OUTPUT_BYTES,
  })
  if (status !== 0) throw new Error(`verify_capsules.py failed: ${stderr}`)
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line): Verdict => JSON.parse(line))
}

async function verdictOn(value: unknown): Promise<Verdict> {
  const result = await verifyCapsule(value, { policy: parsePolicy(POLICY) })
  const fails = failingCodes(result)
  if (fails.length > 0) return { fails }
  const { origin: _, size: __, ...reached } = await reachedBy(result)
  return reached
}
