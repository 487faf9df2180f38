import { CryptoError } from '@agent-exchange/crypto'
import { ExchangeError, type ExchangeErrorCode } from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'
import { visible } from '../visible.ts'
import { changeOf, linesOfChange } from './key-change.ts'
import { failureLines } from './object-file.ts'

/** What a code means to somebody at the command line. */
const ADVICE: Readonly<Partial<Record<ExchangeErrorCode, string>>> = {
  exchange_unreachable: 'Set the address with --url, and look at all of it with `aex agent doctor`.',
  token_refused: 'Give the client id that the operator gave with --client.',
  key_store_locked: 'Give it with --passphrase-file FILE or AEX_AGENT_PASSPHRASE.',
  agent_folder_missing: 'Make one with `aex agent init`, or name its folder with --dir.',
  agent_folder_unregistered: 'Run `aex agent register --client CLIENT_ID --url BASE_URL`.',
  agent_folder_occupied: 'Choose another folder with --dir.',
}

/** Runs a command's work; what the SDK refuses becomes a sentence. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw agentFailure(error)
  }
}

/** Whatever the SDK refused, as a failure that is printed without a stack; anything else as it is. */
export function agentFailure(error: unknown): unknown {
  return error instanceof ExchangeError ? new CommandFailure(explanationOf(error)) : error
}

/** Lines that a person can act on: what, where, which rule, what to do. */
export function explanationOf(error: ExchangeError): string {
  return [
    `${visible(error.message)} (${error.code})`,
    ...problemOf(error),
    ...(error.failures.length > 0 ? [failureLines(error.failures)] : []),
    ...factsOf(error),
    ...causeOf(error),
    ...(ADVICE[error.code] === undefined ? [] : [`  ${ADVICE[error.code]}`]),
  ].join('\n')
}

function problemOf({ problem }: ExchangeError): string[] {
  if (!problem) return []
  const { title, code, type, details } = problem
  return [
    `The exchange says: ${visible(title)} (${visible(code)}).`,
    ...membersOf(details ?? {}),
    `  See ${visible(type)}`,
  ]
}

function factsOf({ details }: ExchangeError): string[] {
  const { change, ...others } = details
  const shown = changeOf(change)
  return [...(shown ? linesOfChange(shown) : []), ...membersOf(others)]
}

function membersOf(members: object): string[] {
  return Object.entries<unknown>({ ...members })
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `  ${name}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
}

function causeOf({ cause }: ExchangeError): string[] {
  if (cause instanceof CryptoError) return [`  ${cause.message} (${cause.code})`]
  return cause instanceof Error && cause.message !== '' ? [`  ${visible(cause.message)}`] : []
}
