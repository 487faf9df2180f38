import type { AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import { checkLog } from './accept-checkpoint.ts'

/** Packages that are opened within this time share one look at the log. */
const FRESH_MS = 60_000

/** What only an operator who cheats, a stolen key or a damaged state file can cause. */
const ALARMING = new Set<ExchangeErrorCode>([
  'log_split_view',
  'log_rolled_back',
  'log_unverifiable',
  'log_state_unreadable',
])

const looks = new WeakMap<AgentContext['log'], { readonly at: number; readonly done: Promise<void> }>()

/**
 * Demands that the log continues the last checkpoint that this agent saw. Throws only over what an honest exchange never
 * does: a log that is missing or out of reach keeps nobody from working.
 */
export function watchLog(context: AgentContext): Promise<void> {
  const at = context.now().getTime()
  const last = looks.get(context.log)
  if (last && Math.abs(at - last.at) < FRESH_MS) return last.done
  const done = look(context)
  // Awaited by the callers; this avoids an unhandled rejection.
  done.catch(() => looks.delete(context.log))
  looks.set(context.log, { at, done })
  return done
}

async function look(context: AgentContext): Promise<void> {
  try {
    await checkLog(context)
  } catch (error) {
    if (error instanceof ExchangeError && ALARMING.has(error.code)) throw error
  }
}
