import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, verifyCapsule } from '@agent-exchange/log'
import { VECTORS } from '../vector-file.ts'
import { profile, Refusal } from './profile.ts'

interface CapsuleInput {
  /** A file of vectors/. */
  readonly capsule: string
  /** Changes to it: a JSON pointer (RFC 6901) and the new value; null removes the member. */
  readonly set: readonly (readonly [pointer: string, value: unknown])[]
  /** C2SP tlog-policy of the verifier. */
  readonly policy: string | null
}

export const capsule = profile(async ({ capsule: file, set, policy }: CapsuleInput) => {
  const original: unknown = JSON.parse(readFileSync(join(VECTORS, file), 'utf8'))
  const value = set.reduce((before, [pointer, change]) => changedAt(before, pointer, change), original)
  const result = await verifyCapsule(value, policy === null ? {} : { policy: parsePolicy(policy) })
  const [contradiction] = result.contradictions
  if (contradiction) throw new Refusal(contradiction.code)
  if (result.outcome === 'unreadable') throw new Refusal('schema_invalid')
  return { level: result.level, origin: result.checkpoint?.origin, size: result.checkpoint?.size }
})

function changedAt(value: unknown, pointer: string, change: unknown): unknown {
  const [, step, ...rest] = pointer.split('/')
  if (step === undefined) return change
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  const next = rest.length === 0 ? change : changedAt(copy[step], `/${rest.join('/')}`, change)
  if (next !== null) copy[step] = next
  else if (Array.isArray(copy)) copy.splice(Number(step), 1)
  else delete copy[step]
  return copy
}
