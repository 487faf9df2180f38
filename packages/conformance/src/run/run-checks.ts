import { isDeepStrictEqual } from 'node:util'
import type { Observation } from '../wire/observed.ts'
import type { Check, CheckResult, Need, OpenPointObserved } from './check.ts'
import { Finding, NotJudged } from './finding.ts'

export interface CheckScope {
  readonly note: (point: OpenPointObserved) => void
  readonly record: (observation: Observation) => void
  /** Aborted when the time of the check is over. */
  readonly signal: AbortSignal
}

export interface RunOptions<C> {
  readonly checks: readonly Check<C>[]
  /** A context whose ids, notes and records belong to one check. */
  readonly contextOf: (check: Check<C>, scope: CheckScope) => C
  /** Whether the configuration lacks what a check needs. */
  readonly lacks?: (need: Need, context: C) => boolean
  /** Results of an earlier run that are taken as they are. */
  readonly done?: readonly CheckResult[]
  readonly onResult?: (result: CheckResult) => void
  /** Of one request; the limit of a check follows from it. */
  readonly timeoutMs?: number
}

/** Observations kept per check: the last ones, because the last one is the one that failed. */
const MAXIMUM_OBSERVED = 12
const MAXIMUM_NOTES = 20
const TIMEOUT_MS = 15_000
/** The limit of a check, in limits of one request. */
const LIMIT_IN_REQUESTS = 8
/** Of checks that wait for repetitions. */
const LONG_LIMIT_IN_REQUESTS = 40

/** One check after the other; those that mostly wait run beside them, those that examine all traffic run last. */
export async function runChecks<C>(options: RunOptions<C>): Promise<CheckResult[]> {
  const { checks, done = [], onResult } = options
  const results = new Map<string, CheckResult>(done.map((result) => [result.name, result]))
  const runOne = async (check: Check<C>) => {
    if (results.has(check.name)) return
    const result = await judge(check, options)
    results.set(check.name, result)
    onResult?.(result)
  }
  const waiting = checks.filter(({ background }) => background).map(runOne)
  for (const check of checks.filter(({ background, last }) => !background && !last)) await runOne(check)
  await Promise.all(waiting)
  for (const check of checks.filter(({ last }) => last)) await runOne(check)
  return checks.flatMap(({ name }) => results.get(name) ?? [])
}

async function judge<C>(check: Check<C>, options: RunOptions<C>): Promise<CheckResult> {
  const { contextOf, lacks, timeoutMs = TIMEOUT_MS } = options
  const stopped = new AbortController()
  const requests = check.background || check.last ? LONG_LIMIT_IN_REQUESTS : LIMIT_IN_REQUESTS
  const limit = { milliseconds: timeoutMs * requests, stopped }
  const notes: OpenPointObserved[] = []
  const observed: Observation[] = []
  const started = performance.now()
  const context = contextOf(check, {
    note: (point) => {
      const isNew = notes.every(({ id, observed: text }) => id !== point.id || text !== point.observed)
      if (isNew && notes.length < MAXIMUM_NOTES) notes.push(point)
    },
    record: (observation) => {
      // While a check waits, it asks the same again.
      if (isDeepStrictEqual(observation, observed.at(-1))) return
      observed.push(observation)
      if (observed.length > MAXIMUM_OBSERVED) observed.shift()
    },
    signal: stopped.signal,
  })
  const outcome = await verdictOf(check, context, limit, lacks)
  return {
    name: check.name,
    ids: check.ids,
    title: check.title,
    ...outcome,
    milliseconds: Math.round(performance.now() - started),
    openPoints: notes,
    observed,
  }
}

async function verdictOf<C>(
  check: Check<C>,
  context: C,
  limit: Limit,
  lacks: RunOptions<C>['lacks'],
): Promise<Pick<CheckResult, 'verdict' | 'reason' | 'broken'>> {
  const missing = (check.needs ?? []).find((need) => lacks?.(need, context))
  if (missing !== undefined)
    return {
      verdict: 'skipped',
      reason: missing === 'webhooks' ? 'no webhook receiver is configured' : `there is no hook ${missing}`,
    }
  try {
    await within(limit, check.run(context))
    return { verdict: 'pass' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof NotJudged) return { verdict: 'skipped', reason }
    if (error instanceof Finding) return { verdict: 'fail', reason, ...(error.ids && { broken: error.ids }) }
    // A hook, a connection or the kit itself failed, which says nothing about a rule.
    return { verdict: 'error', reason }
  }
}

interface Limit {
  readonly milliseconds: number
  readonly stopped: AbortController
}

async function within({ milliseconds, stopped }: Limit, work: Promise<void>): Promise<void> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new Error(`no result within ${milliseconds / 1_000} s`)
    // The check must not send beside the next one.
    stopped.abort(error)
    limit.reject(error)
  }, milliseconds)
  try {
    await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
