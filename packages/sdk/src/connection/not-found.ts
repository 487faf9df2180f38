import { ExchangeError } from '../errors.ts'

export function isNotFound(error: unknown): boolean {
  return error instanceof ExchangeError && error.problem?.status === 404
}
