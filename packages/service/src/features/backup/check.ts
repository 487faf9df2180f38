/** One result of `aex backup verify`. */
export interface BackupCheck {
  readonly name: string
  /** `not_proved`: something is missing that the check needs. */
  readonly result: 'proved' | 'failed' | 'not_proved'
  /** A sentence that says what was proved, or why not. */
  readonly detail: string
}

/** Thrown inside a check: the backup contradicts itself. */
export class BackupContradiction extends Error {}

/** Thrown inside a check: something is missing that the check needs. */
export class NotProved extends Error {}

/** Runs a check. Its sentence becomes the detail; a failure of the database fails the check too. */
export async function runCheck(name: string, check: () => Promise<string>): Promise<BackupCheck> {
  try {
    return { name, result: 'proved', detail: await check() }
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unknown failure'
    return { name, result: error instanceof NotProved ? 'not_proved' : 'failed', detail }
  }
}
