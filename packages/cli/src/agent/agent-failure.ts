import { CryptoError } from '@agent-exchange/crypto'
import { ExchangeError } from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'
import { visible } from '../visible.ts'

/** Whatever the SDK refused, as lines that a person can act on: what, where, which rule, what to do. */
export function agentFailure(error: unknown): unknown {
  if (!(error instanceof ExchangeError)) return error
  return new CommandFailure(
    [`${error.message} (${error.code})`, ...problemOf(error), ...failuresOf(error), ...factsOf(error)].join(
      '\n',
    ),
  )
}

/** Runs a command's work; what the SDK refuses becomes a sentence. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw agentFailure(error)
  }
}

function problemOf({ problem }: ExchangeError): string[] {
  if (!problem) return []
  const { title, code, type, details } = problem
  const members = Object.entries(details ?? {}).map(
    ([name, value]) => `  ${name}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  return [`The exchange says: ${visible(title)} (${code}).`, ...members, `  See ${type}`]
}

function failuresOf({ failures }: ExchangeError): string[] {
  return failures.map(
    ({ pointer, rule, message }) =>
      `  ${pointer === '' ? '(the whole)' : visible(pointer)}  ${message}  ${rule}`,
  )
}

function factsOf({ details, cause }: ExchangeError): string[] {
  const facts = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `  ${name}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
  if (cause instanceof CryptoError) facts.push(`  ${cause.message} (${cause.code})`)
  else if (cause instanceof Error && cause.message !== '') facts.push(`  ${visible(cause.message)}`)
  return facts
}
