import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Digest } from '@agent-exchange/crypto'
import { LOWERING_CODES, parsePolicy, verifyCapsule, type CapsuleResult } from '@agent-exchange/log'
import { VECTORS } from '../vector-file.ts'
import { FailingChecks, profile, Refusal, utf8 } from './profile.ts'

interface CapsuleInput {
  /** A file of vectors/. */
  readonly capsule: string
  /** Changes to it: a JSON pointer (RFC 6901) and the new value; null removes the member. */
  readonly set: readonly (readonly [pointer: string, value: unknown])[]
  /** C2SP tlog-policy of the verifier. */
  readonly policy: string | null
}

async function verified({ capsule: file, set, policy }: CapsuleInput): Promise<CapsuleResult> {
  const original: unknown = JSON.parse(readFileSync(join(VECTORS, file), 'utf8'))
  const value = set.reduce((before, [pointer, change]) => changedAt(before, pointer, change), original)
  return verifyCapsule(value, policy === null ? {} : { policy: parsePolicy(policy) })
}

export const capsule = profile(async (input: CapsuleInput) => {
  const result = await verified(input)
  const [contradiction] = result.contradictions
  if (contradiction) throw new Refusal(contradiction.code)
  if (result.outcome === 'unreadable') throw new Refusal('schema_invalid')
  const { level, checkpoint } = result
  return { level, log: logLevelOf(result), origin: checkpoint?.origin, size: checkpoint?.size }
})

export const chainCapsule = profile(async (input: CapsuleInput) => {
  const result = await verified(input)
  const failing = failingCodes(result)
  if (failing.length > 0) throw new FailingChecks(failing)
  return reachedBy(result)
})

/** What a capsule of format 3 proves that nothing contradicts. */
export async function reachedBy({ level, checkpoint, completeUpTo, checks, packages }: CapsuleResult) {
  const disclosed: Record<string, { basis: 'proved' | 'claimed'; plaintext_digest: string }> = {}
  for (const { packageId, disclosed: shown } of packages)
    if (shown)
      disclosed[packageId] = {
        basis: shown.isProved ? 'proved' : 'claimed',
        plaintext_digest: await sha256Digest(utf8(shown.text)),
      }
  return {
    level,
    origin: checkpoint?.origin,
    size: checkpoint?.size,
    complete_up_to: completeUpTo ?? null,
    earlier_checkpoint: !checks.some(
      ({ code, result }) => code === 'earlier_checkpoint' && result === 'unproved',
    ),
    in_doubt: checks.some(({ result }) => result === 'doubt'),
    disclosed,
  }
}

/** The codes of all checks that fail. Without the tree of the log no key is known, and nothing else can be judged. */
export function failingCodes({ outcome, contradictions }: CapsuleResult): string[] {
  if (outcome === 'unreadable') return ['capsule_readable']
  const codes = new Set(contradictions.map(({ code }) => code))
  return codes.has('log_checkpoint') ? ['log_checkpoint'] : [...codes].toSorted()
}

/** What its log proves of a capsule of format 2. Its level is lower, because the format does not bind what it shows. */
function logLevelOf({ checks, checkpoint }: CapsuleResult): string {
  const isLowered = checks.some(
    ({ code, result }) => result === 'unproved' && code !== 'format_bound' && LOWERING_CODES.has(code),
  )
  if (isLowered) return 'signed-only'
  if (!checkpoint?.isPinned) return 'unpinned'
  return checkpoint.isQuorumMet ? 'witnessed' : 'log-signed'
}

export function changedAt(value: unknown, pointer: string, change: unknown): unknown {
  const [, step, ...rest] = pointer.split('/')
  if (step === undefined) return change
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  const next = rest.length === 0 ? change : changedAt(copy[step], `/${rest.join('/')}`, change)
  if (next !== null) copy[step] = next
  else if (Array.isArray(copy)) copy.splice(Number(step), 1)
  else delete copy[step]
  return copy
}
