import type { AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import type { SendWarning } from '../objects/placeholders.ts'
import { checkLog, checkPeerCheckpoint, splitViewOf } from './accept-checkpoint.ts'
import { knownKeys } from './log-keys.ts'
import type { LogTrouble } from '../log-state.ts'
import { isOverdue, recordFailure } from './log-trouble.ts'

/** Calls within this time share one look at the log. */
const FRESH_MS = 60_000
/** Longest delay of a call by a log that does not answer. */
const LOOK_MS = 15_000

/** What only an operator who cheats, a stolen key or a damaged state file can cause. */
const ALARMING = new Set<ExchangeErrorCode>([
  'log_split_view',
  'log_rolled_back',
  'log_unverifiable',
  'log_state_unreadable',
])

/** What a look at the log found, where it found no reason for an alarm. */
export interface LogWatch {
  /** Set while the log cannot be checked: since when, and why. */
  readonly unchecked?: Pick<LogTrouble, 'since' | 'reason'>
}

const looks = new WeakMap<AgentContext['log'], { readonly at: number; readonly done: Promise<LogWatch> }>()

/**
 * Demands that the log continues the last checkpoint that this agent saw. Throws only over what an honest exchange never
 * does: a log that is missing or out of reach keeps nobody from working, and the result says since when it is. A signed
 * checkpoint whose proof stays outstanding is kept, and reported as a split view after an hour and three contacts.
 *
 * @example
 * const { unchecked } = await watchLog(context)
 * if (unchecked) console.warn(`The log could not be checked since ${unchecked.since}.`)
 */
export function watchLog(context: AgentContext): Promise<LogWatch> {
  const at = context.now().getTime()
  const last = looks.get(context.log)
  if (last && Math.abs(at - last.at) < FRESH_MS) return last.done
  const done = look(context)
  // Awaited by the callers; this avoids an unhandled rejection.
  done.catch(() => looks.delete(context.log))
  looks.set(context.log, { at, done })
  return done
}

async function look(context: AgentContext): Promise<LogWatch> {
  try {
    await checkLog({ ...context, signal: AbortSignal.timeout(LOOK_MS) })
    return {}
  } catch (error) {
    if (error instanceof ExchangeError && ALARMING.has(error.code)) throw error
    if (await isWithoutLog(context, error)) return {}
    const trouble = await recordFailure(context, error)
    if (isOverdue(trouble, context.now())) throw await unprovedFor(context, trouble)
    return { unchecked: { since: trouble.since, reason: trouble.reason } }
  }
}

/**
 * Compares the checkpoint in the additional data of a package with the log that this agent sees: two views of one log
 * meet in ordinary traffic. Returns the alarm, whose file convicts the log key; undefined where the views agree, or where
 * the log is out of reach.
 */
export async function comparePeerView(
  context: AgentContext,
  note: string,
): Promise<ExchangeError | undefined> {
  try {
    await checkPeerCheckpoint({ ...context, signal: AbortSignal.timeout(LOOK_MS) }, note)
    return undefined
  } catch (error) {
    return error instanceof ExchangeError && ALARMING.has(error.code) ? error : undefined
  }
}

/** An exchange from before the log; once this agent saw a checkpoint, there is one. */
async function isWithoutLog({ log }: AgentContext, error: unknown): Promise<boolean> {
  return error instanceof ExchangeError && error.code === 'log_missing' && !(await log.read())
}

async function unprovedFor(context: AgentContext, trouble: LogTrouble): Promise<ExchangeError> {
  const { log } = context
  const state = await log.read()
  const { unproved } = trouble
  if (!state || !unproved) return new ExchangeError('log_unverifiable', { what: trouble.reason })
  const keys = await knownKeys(context, state)
  const file =
    unproved.file ??
    (await log.keepSplitView(await splitViewOf(context, [state.checkpoint, unproved.note], keys)))
  await log.writeTrouble({ ...trouble, unproved: { ...unproved, file } })
  return new ExchangeError('log_split_view', {
    what: `The exchange signed a checkpoint at ${unproved.since} and has not proved in ${unproved.failures} contacts since that it continues the one before.`,
    details: { file, reason: trouble.reason },
  })
}

/** A sentence about a log that cannot be checked. */
export function uncheckedSentence({ since, reason }: NonNullable<LogWatch['unchecked']>): string {
  return `The transparency log could not be checked since ${since}: ${reason}`
}

export function uncheckedWarnings({ unchecked }: LogWatch): SendWarning[] {
  if (!unchecked) return []
  return [{ code: 'log_unchecked', pointer: '', message: uncheckedSentence(unchecked) }]
}
