import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, verifyCapsule } from '@agent-exchange/log'
import { POLICY } from '@agent-exchange/testkit'
import { mutationsOf } from './capsule-mutations.ts'
import { CHAIN_CAPSULE_FILE } from './generators/chain-capsule.ts'
import { changedAt } from './profiles/capsule.ts'
import { VECTORS } from './vector-file.ts'

const MAXIMUM_OUTPUT_BYTES = 67_108_864

interface Verdict {
  readonly fails?: readonly string[]
  readonly level?: string
  readonly complete_up_to?: string | null
}

/** Both implementations on every nth edit of the published capsule: how many, and those on which they differ. */
export async function compareVerdicts(interpreter: string, nth: number) {
  const capsule: unknown = JSON.parse(readFileSync(join(VECTORS, CHAIN_CAPSULE_FILE), 'utf8'))
  const edits = mutationsOf(capsule).filter((_, at) => at % nth === 0)
  const script = join(import.meta.dirname, 'python', 'verify_capsules.py')
  const { stdout, stderr, status } = spawnSync(interpreter, ['-B', script], {
    input: JSON.stringify({ capsule, policy: POLICY, changes: edits.map((edit) => [edit]) }),
    encoding: 'utf8',
    maxBuffer: MAXIMUM_OUTPUT_BYTES,
  })
  if (status !== 0) throw new Error(`verify_capsules.py failed: ${stderr}`)
  const theirs = stdout.trimEnd().split('\n')
  const differing: string[] = []
  for (const [at, [pointer, value]] of edits.entries()) {
    const ours = await verdictOn(changedAt(capsule, pointer, value))
    const said = summary(JSON.parse(theirs[at] ?? '{}') as Verdict)
    if (summary(ours) !== said) differing.push(`${pointer}: ${summary(ours)}, and ${said} there`)
  }
  return { edits: edits.length, differing }
}

async function verdictOn(value: unknown): Promise<Verdict> {
  const result = await verifyCapsule(value, { policy: parsePolicy(POLICY) })
  if (result.outcome === 'unreadable') return { fails: ['capsule_readable'] }
  if (result.contradictions.length > 0) return { fails: result.contradictions.map(({ code }) => code) }
  return { level: result.level ?? '', complete_up_to: result.completeUpTo ?? null }
}

function summary({ fails, level, complete_up_to }: Verdict): string {
  if (fails?.includes('capsule_readable')) return 'unreadable'
  return fails ? 'contradiction' : `${level}, complete up to ${complete_up_to}`
}
