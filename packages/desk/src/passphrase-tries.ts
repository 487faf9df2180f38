import { MAXIMUM_WRONG_PASSPHRASES, PASSPHRASE_PERIOD_MS } from './desk-limits.ts'

/** Limits how often a passphrase may be tried: of all browsers together, one try at a time. */
export interface PassphraseTries {
  /** Milliseconds until the next try is permitted; 0 if one is permitted now. */
  waitMs(): number
  /** Runs the work, which fails if the passphrase is wrong. Fails with {@link TooManyTries} if no try is permitted. */
  attempt<T>(work: () => Promise<T>): Promise<T>
}

export class TooManyTries extends Error {
  override readonly name = 'TooManyTries'
}

/** `isWrong` tells an error about the passphrase from other errors, which are not counted. */
export function createPassphraseTries(
  now: () => number,
  isWrong: (error: unknown) => boolean,
): PassphraseTries {
  let wrong: number[] = []
  let last: Promise<unknown> = Promise.resolve()
  const waitMs = () => {
    wrong = wrong.filter((at) => at > now() - PASSPHRASE_PERIOD_MS)
    const [first] = wrong
    return wrong.length < MAXIMUM_WRONG_PASSPHRASES || first === undefined
      ? 0
      : first + PASSPHRASE_PERIOD_MS - now()
  }
  return {
    waitMs,
    attempt(work) {
      const result = last.then(async () => {
        if (waitMs() > 0) throw new TooManyTries('too many wrong passphrases')
        const done = await work().catch((error: unknown) => {
          if (isWrong(error)) wrong.push(now())
          throw error
        })
        wrong = []
        return done
      })
      last = result.catch(() => undefined)
      return result
    },
  }
}
