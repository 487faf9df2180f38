import { CryptoError } from '@agent-exchange/crypto'
import type { Failure } from '@agent-exchange/protocol'
import { ExchangeError, type ExchangeErrorCode } from '@agent-exchange/sdk'
import { CommandFailure } from '../failure.ts'
import { visible } from '../visible.ts'
import { changeOf, linesOfChange } from './key-change.ts'
import { folderStep, nextStep, type Place } from './next-step.ts'
import { failureLine } from './object-file.ts'

/** Remedies at the command line, by error code. */
const ADVICE: Readonly<Partial<Record<ExchangeErrorCode, (place: Place) => string>>> = {
  exchange_unreachable: (place) =>
    `Set the address with --url, and run all checks: ${nextStep(place, 'doctor')}`,
  exchange_untrusted: (place) =>
    `Check it with the authority: ${nextStep({ ...place, ca: place.ca ?? 'FILE' }, 'doctor')}`,
  token_refused: () => 'Pass the client id from the operator with --client.',
  key_store_locked: () => 'Pass the passphrase with --passphrase-file FILE or AEX_AGENT_PASSPHRASE.',
  agent_folder_missing: ({ dir }) =>
    `Name its folder with --dir, or create one: ${nextStep(dir === undefined ? {} : { dir }, 'init', '--org', 'ORG_ID', '--agent', 'AGENT_ID')}`,
  agent_folder_unregistered: (place) => `Run: ${nextStep(place, 'register', ...REGISTRATION)}`,
  connector_missing: (place) =>
    `Set the connector: ${folderStep(place, 'connector', 'set', '--help')}; or name the other organization: ${folderStep(place, 'connector', 'partner', '--help')}`,
  agent_folder_copied: (place) => `Adopt it: ${folderStep(place, 'adopt')}`,
  agent_folder_moved: () => 'See what it does there: aex gateway agent list',
  agent_folder_occupied: () => 'Choose another folder with --dir.',
}

const REGISTRATION = ['--client', 'CLIENT_ID', '--url', 'BASE_URL']

/** Runs a command's work. An SDK error becomes a sentence. */
export async function explained<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw agentFailure(error, place)
  }
}

/** Turns an SDK error into a failure that is printed without a stack. Returns any other error unchanged. */
export function agentFailure(error: unknown, place: Place): unknown {
  return error instanceof ExchangeError ? new CommandFailure(explanationOf(error, place)) : error
}

/** The lines to print: what happened, where, which rule, what to do. */
export function explanationOf(error: ExchangeError, place: Place): string {
  const { what, hint, code, failures } = error
  const advice = ADVICE[code]?.(place)
  return [
    `${visible(what === undefined ? hint : `${what} ${hint}`)} (${code})`,
    ...problemOf(error),
    ...(code === 'policy_refused' ? checkLines(failures) : failures.map(failureLine)),
    ...factsOf(error, place),
    ...causeOf(error),
    ...(advice === undefined ? [] : [`  ${advice}`]),
  ].join('\n')
}

/** One line for each failed check, with its pointers and what to do. */
function checkLines(failures: readonly Failure[]): string[] {
  return [...Map.groupBy(failures, ({ rule }) => rule)].map(([rule, found]) => {
    const [first, ...others] = Map.groupBy(found, ({ message }) => message)
    if (!first) return `  ${rule}`
    const [message, places] = first
    const pointers = places.slice(0, SHOWN_PLACES).map(({ pointer }) => visible(pointer))
    const more = places.length - pointers.length + others.flatMap(([, rest]) => rest).length
    return `  ${rule}: ${pointers.join(', ')}  ${message}${more > 0 ? ` (and ${more} more)` : ''}`
  })
}

const SHOWN_PLACES = 5

function problemOf({ problem }: ExchangeError): string[] {
  if (!problem) return []
  const { title, code, type, details, correlation_id } = problem
  return [
    `The exchange says: ${visible(title)} (${visible(code)}).`,
    ...membersOf({ ...details, correlation_id }),
    `  See ${visible(type)}`,
  ]
}

function factsOf({ details, code }: ExchangeError, place: Place): string[] {
  const { change, checks, ...others } = details
  const shown = changeOf(change)
  // The checks are printed above.
  const facts = code === 'policy_refused' ? others : { ...others, checks }
  return [...(shown ? linesOfChange(shown, place) : []), ...membersOf(facts)]
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
