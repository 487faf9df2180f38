import assert from 'node:assert/strict'
import {
  LOWERING_CODES,
  parsePolicy,
  verifyCapsule,
  type CapsulePackage,
  type CapsuleV3,
  type ShownEntry,
} from '@agent-exchange/log'
import { chainCapsuleOf, POLICY, type ChainLogPlan } from '@agent-exchange/testkit'
import type { CheatingExchange } from './cheating-exchange.fixture.ts'

/** What somebody noticed of an operator who cheats. */
export interface Noticed {
  /** Codes of checks, kinds of findings, or the code of an error. */
  readonly codes: readonly string[]
  /** How long it took in this run. */
  readonly after: string
}

/** A way to cheat: a row of docs/cheating-operator.md, and a test of its own. */
export interface CheatingWay {
  readonly operator: string
  readonly noticedBy: string
  /** All of them are among those that are noticed. */
  readonly codes: readonly string[]
  readonly when: string
  readonly play: (exchange: CheatingExchange) => Promise<Noticed>
}

export const logPolicy = parsePolicy(POLICY)

export const seconds = (started: number) => `${((performance.now() - started) / 1_000).toFixed(2)} s`

export type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> }

/** A copy of a capsule after a change by whoever passes it on. */
export function edited(capsule: CapsuleV3, change: (copy: Mutable<CapsuleV3>) => unknown): CapsuleV3 {
  const copy = structuredClone(capsule) as Mutable<CapsuleV3>
  change(copy)
  return copy
}

/** The same, logged again by the operator, who holds the keys of log and platform. Two witnesses cosign by default. */
export function forged(
  { world, capsule }: CheatingExchange,
  change: (copy: Mutable<CapsuleV3>) => unknown,
  plan: ChainLogPlan = {},
): Promise<CapsuleV3> {
  return chainCapsuleOf(edited(capsule, change), { platform: world, cosigners: 2, ...plan })
}

export const unchanged = () => undefined

export function packageIn({ packages }: Mutable<CapsuleV3>, index: number): Mutable<CapsulePackage> {
  const found = packages[index]
  assert.ok(found)
  return found
}

export function entryIn(capsule: Mutable<CapsuleV3>, index: number, position: number): Mutable<ShownEntry> {
  const entry = packageIn(capsule, index).entries[position - 1]
  assert.ok(entry && 'proof' in entry)
  return entry
}

/** Has the capsule and a policy, and no network. What contradicts, or what lowers the level. */
export async function stranger(capsule: CapsuleV3): Promise<Noticed> {
  const started = performance.now()
  const { contradictions, exitCode, checks } = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), {
    policy: logPolicy,
    require: 'witnessed',
  })
  const after = `verified in ${seconds(started)}`
  const lowering = checks.filter(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))
  const noticed = exitCode === 1 ? contradictions : lowering
  return { codes: [...new Set(noticed.map(({ code }) => code))], after }
}
