import type { Failure, ProblemDetails } from '@agent-exchange/protocol'

/**
 * Every way in which the SDK refuses or fails, with what its reader can do about it. The codes are stable:
 * programs match on them. No sentence and no detail holds content, a token or a key.
 */
const HINTS = {
  input_invalid: 'Something that was given cannot be used. Correct it and try again.',

  // Reaching the exchange
  exchange_unreachable: 'Nothing answered. Check the address, the network and that the exchange is running.',
  exchange_answer_unreadable:
    'The answer is not of the protocol. Check that the address is that of an exchange.',
  exchange_refused: 'The exchange refused. Its problem says why; `type` leads to a page about it.',
  discovery_failed: 'The authorization server was not found. Check the base address of the exchange.',
  token_refused:
    'No access token was given. Check the client id, and that the client key or certificate is the registered one.',
  timed_out: 'It took longer than the limit. Trying again with the same input is safe.',
  aborted: 'The caller gave up.',

  // Own keys
  key_already_made: 'The key store already has a key in this place. Use it, or finish its rotation first.',
  key_missing: 'The key store has no such key. Make the keys of the agent first.',
  key_store_locked: 'The key store is locked by a passphrase that was not given or is wrong.',
  key_store_exposed:
    'Others can read the key store. Restrict it to its owner, and replace keys that may have been seen.',
  key_store_unavailable:
    'The key store cannot be reached. Check that its folder is there and that this process may use it.',
  key_store_unreadable: 'The key store is damaged or of another version. Restore it from a backup.',

  // The agent's folder
  agent_folder_missing: 'There is no agent in this folder. Make one, or name the folder that holds it.',
  agent_folder_unregistered:
    'The agent does not know its exchange yet. Register it with the address and the client id that the operator gave.',
  agent_folder_occupied: 'The folder already holds an agent. Open it, or choose another folder.',
  agent_folder_exposed:
    'Whoever can change what the agent keeps decides whom it trusts. Let only its owner write the folder and its files.',
  agent_folder_unreadable: 'The description of the agent is damaged or of another version. Restore it.',

  // Keys of others
  pin_store_unreadable:
    'The pins of other agents are damaged, of another version, or others can change them. Restore them, and let only their owner write.',
  peer_unknown: 'The directory knows no such agent. Check its id.',
  peer_key_missing: 'The directory shows no usable key of the agent. Ask its owner to register one.',
  peer_key_unconfirmed:
    'The agent has a key that no pinned key introduced. Compare its fingerprint with its owner over another channel, then trust it.',
  peer_key_mismatch:
    'The key is not the one that was pinned. Do not send; ask its owner, and tell the operator.',
  peer_key_revoked: 'The key was revoked, and nothing proves that this was accepted before.',

  // Sending
  object_invalid: 'The object breaks its schema; the failures say where. Correct it and send again.',
  policy_refused:
    'The policy does not allow this; the checks say which rule. Change the object or the policy.',
  approval_missing: 'The policy asks for a human approval, and nothing was given to ask for it.',
  approval_declined: 'The human approval was declined.',
  outbox_conflict: 'Something else was already handed over under this id. Use a new id.',
  outbox_unavailable:
    'The outbox cannot be read or written. Check the disk, the permissions and who else has it open.',

  // Opening
  package_not_for_us: 'This agent is neither sender nor recipient of the package.',
  content_unavailable: 'The content cannot be fetched any more: revoked, expired or withdrawn.',
  content_too_large: 'The content is larger than the limit that was set.',
  digest_mismatch: 'The content is not what its digest says. It was altered on its way or by the sender.',
  signature_invalid: 'The signature does not hold. The cause says what differs.',
  content_not_opened: 'The content does not open with the keys of this agent.',
  content_mismatch: 'What is inside differs from what is said outside; the details name the members.',

  // Receiving
  webhook_rejected:
    'The delivery was refused before anything was stored. The cause says which rule it broke.',
  notification_invalid: 'The notification breaks its schema; the failures say where.',
  notification_keys_changed:
    'An id means one key for ever. Nothing signed with the new one is taken; tell the operator.',
  inbox_unavailable: 'The event could not be stored. It will come again.',
  event_conflict:
    'Another event with the same id is already stored. Tell the operator: ids never change meaning.',

  // Proof
  evidence_invalid: 'The evidence does not hold; the details name the first thing that is wrong.',

  // Data spaces
  connector_missing: 'The thread needs a data-space connector, and the agent has none.',
  connector_failed: 'The connector failed. The cause has its state and both process ids.',
} as const

export type ExchangeErrorCode = keyof typeof HINTS

export const EXCHANGE_ERROR_CODES = Object.keys(HINTS) as readonly ExchangeErrorCode[]

export interface ErrorCircumstances {
  /** What happened here, in a sentence; the hint follows it. */
  readonly what?: string
  /** Names and times that help; never content. */
  readonly details?: Readonly<Record<string, unknown>>
  /** What the exchange said, where it was the exchange that refused. */
  readonly problem?: ProblemDetails
  /** What is wrong with an object, member by member. */
  readonly failures?: readonly Failure[]
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean
  readonly cause?: unknown
}

/**
 * The one error of the SDK. Match on `code`; `message` and `hint` are for people.
 *
 * @example
 * try {
 *   await agent.open(packageId)
 * } catch (error) {
 *   if (error instanceof ExchangeError && error.code === 'signature_invalid') console.error(error.message, error.cause)
 *   else throw error
 * }
 */
export class ExchangeError extends Error {
  readonly code: ExchangeErrorCode
  /** What happened here; the message adds the first failure, the exchange's problem and the hint. */
  readonly what: string | undefined
  readonly hint: string
  readonly details: Readonly<Record<string, unknown>>
  readonly problem: ProblemDetails | undefined
  readonly failures: readonly Failure[]
  readonly retryable: boolean

  constructor(code: ExchangeErrorCode, circumstances: ErrorCircumstances = {}) {
    const { what, details = {}, problem, failures = [], retryable = false, cause } = circumstances
    const parts = [what, firstFailure(failures), problemText(problem), HINTS[code]]
    super(parts.filter((part) => part !== undefined).join(' '), cause === undefined ? {} : { cause })
    this.name = 'ExchangeError'
    this.code = code
    this.what = what
    this.hint = HINTS[code]
    this.details = details
    this.problem = problem
    this.failures = failures
    this.retryable = retryable
  }
}

/** A message is one line in somebody's log. */
const LONGEST_DETAILS = 300

function firstFailure([first, ...others]: readonly Failure[]): string | undefined {
  if (!first) return undefined
  const { pointer, message, rule } = first
  const more = others.length === 0 ? '' : ` And ${others.length} more.`
  return `${pointer === '' ? 'The whole' : pointer}: ${message} [${rule}]${more}`
}

/** The exchange's own words; a problem never repeats content (ERR-02). */
function problemText(problem: ProblemDetails | undefined): string | undefined {
  if (!problem) return undefined
  const { code, title, details, correlation_id } = problem
  const members =
    Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, LONGEST_DETAILS)}`
  return `The exchange says ${code}: ${title}${members} (correlation id ${correlation_id}).`
}
