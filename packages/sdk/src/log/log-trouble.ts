import type { AgentContext } from '../context.ts'
import type { LogTrouble } from '../log-state.ts'

/** A checkpoint without a proof is reported after this number of failed contacts, if the first was this long ago. */
const UNPROVED_FAILURES = 3
const UNPROVED_MS = 3_600_000
const REASON_CHARACTERS = 300

/** Keeps a signed checkpoint until it is proved. The first one is kept, since later ones must continue it. */
export async function holdUnproved(
  { log, now }: AgentContext,
  note: string,
  error: unknown,
): Promise<LogTrouble> {
  const before = await log.readTrouble()
  const since = now().toISOString()
  const trouble: LogTrouble = {
    since,
    unproved: { note, since, failures: 0 },
    ...before,
    reason: reasonOf(error),
  }
  await log.writeTrouble(trouble)
  return trouble
}

/** Records a contact that failed, and returns what is known of the trouble. */
export async function recordFailure({ log, now }: AgentContext, error: unknown): Promise<LogTrouble> {
  const before = await log.readTrouble()
  const { unproved } = before ?? {}
  const trouble: LogTrouble = {
    since: before?.since ?? now().toISOString(),
    reason: reasonOf(error),
    ...(unproved && { unproved: { ...unproved, failures: unproved.failures + 1 } }),
  }
  // Without a record of it, the next failure looks like the first one; that keeps nobody from working.
  await log.writeTrouble(trouble).catch(() => undefined)
  return trouble
}

export function isOverdue({ unproved }: LogTrouble, now: Date): boolean {
  if (!unproved || unproved.failures < UNPROVED_FAILURES) return false
  return now.getTime() - Date.parse(unproved.since) >= UNPROVED_MS
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : 'unknown').slice(0, REASON_CHARACTERS)
}
