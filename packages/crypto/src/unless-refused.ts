import { CryptoError } from './errors.ts'

/**
 * The result of the work; undefined where it throws a CryptoError, because its input is refused. Other errors are defects
 * and pass.
 */
export function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined>
export function unlessRefused<T>(work: () => T): T | undefined
export function unlessRefused(work: () => unknown): unknown {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(refused) : result
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): undefined {
  if (!(error instanceof CryptoError)) throw error
}
