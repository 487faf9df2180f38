import type { Failure, ProblemDetails } from '@agent-exchange/protocol'

/**
 * Error codes of the SDK, each with its remedy. The codes are stable: programs match on them. No message and no
 * detail contains content, a token or a key.
 */
const HINTS = {
  input_invalid: 'The input is invalid. Correct it and try again.',

  // Reaching the exchange
  exchange_unreachable:
    'The exchange did not answer. Check the address, the network and that the exchange is running.',
  exchange_untrusted:
    'The certificate of the exchange is not trusted here, so nothing was sent. If a private authority issued it, pass the certificate of that authority: `--ca FILE`, or `ca` of `createTlsFetch`. Otherwise ask the operator of the exchange.',
  exchange_answer_unreadable:
    'The response does not follow the protocol. Check that the address is that of an exchange.',
  exchange_refused:
    'The exchange refused. Read its problem, which says why; `type` leads to a page about it.',
  discovery_failed: 'The authorization server was not found. Check the base address of the exchange.',
  token_refused:
    'The authorization server issued no access token. Check the client id, and that the client key or certificate is the registered one. Ask the operator whether the client is enabled.',
  caller_suspended:
    'The exchange answers no request until its operator permits it again. Ask the operator why; `aex org activate` resumes a suspended organization, and `aex invite create` lets an agent in again whose client was disabled.',
  invitation_unreadable:
    'This is not a whole invitation. Copy the complete text, which begins with aexinv_, and try again.',
  invitation_refused: 'Ask the operator of the exchange for a new invitation.',
  timed_out: 'The call exceeded its time limit. Try again: the same input is safe.',
  aborted: 'The caller aborted the call. Call again when it is wanted; the same input is safe.',

  // Own keys
  key_already_made:
    'The key store already has a key for this role and stage. Use it, or finish its rotation first.',
  key_missing: 'The key store has no such key. Create the keys of the agent first.',
  key_unavailable:
    'The private key cannot be used now; the cause says why. Check the module that holds it, and try again: nothing was decided.',
  key_store_locked:
    'The key store is encrypted, and the passphrase is missing or wrong. Pass the passphrase of the keys.',
  key_store_exposed:
    'Other users can read the key store. Restrict it to its owner, and rotate keys that may have leaked.',
  key_store_unavailable:
    'The key store cannot be reached. Check that its folder or database is there, and that this process may use it.',
  key_store_unreadable: 'The key store is damaged or of another version. Restore it from a backup.',

  // The agent's folder
  agent_folder_missing: 'There is no agent in this folder. Create one, or name the folder that holds it.',
  agent_folder_unregistered:
    'The agent does not know its exchange yet. Register it with the address and the client id from the operator.',
  agent_folder_occupied: 'The folder already holds an agent. Open it, or choose another folder.',
  agent_folder_exposed:
    'Other users can write to the folder, and so decide whom the agent trusts. Restrict writing to its owner.',
  agent_folder_copied:
    'The folder is a copy, or was moved to another disk, and two folders of one agent handle every event twice. End what uses the original, then adopt this one: `aex agent adopt`.',
  agent_folder_moved: 'This folder is retired, and kept as it was. Use the agent with `aex gateway`.',
  agent_folder_in_use:
    'Another process uses the folder. End the desk, listeners, MCP servers and programs of this agent, then run it again.',
  agent_folder_unreadable: 'The description of the agent is damaged or of another version. Restore it.',

  // Keys of others
  pin_store_unreadable:
    'The file of pinned keys is damaged, of another version, or writable by other users. Restore it, and restrict writing to its owner.',
  peer_unknown: 'The directory knows no such agent. Check its id.',
  peer_key_missing: 'The directory shows no usable key of the agent. Ask its owner to register one.',
  peer_key_unconfirmed:
    'The agent has a key that no pinned key introduced and that no rule of this agent (O-47) accepts. Compare its fingerprint with its owner over another channel, then trust it.',
  peer_key_unlogged:
    'The transparency log does not hold this key yet, or its witnesses have not seen it. Try again in a minute; or compare the fingerprint with its owner over another channel, then trust it.',
  peer_key_mismatch:
    'The key differs from the pinned one. Do not send; ask its owner, and inform the operator.',
  peer_key_revoked:
    'The key was revoked, and nothing proves that the exchange accepted the package before. Do not rely on the package; ask its sender to send it again with a new key.',

  // Sending
  object_invalid: 'The object breaks its schema; the failures say where. Correct it and send again.',
  policy_refused:
    'The policy does not allow this; the checks say which rule. Change the object or the policy.',
  approval_missing:
    'The policy requires a human approval, and no `approve` function was given. Pass one, or store a draft and have it approved at the desk: `aex agent draft create`, `aex agent desk`.',
  approval_declined:
    'A person declined the package, and nothing was sent. Ask for the reason, change the object, and submit it as a new draft or package.',
  approval_waiting:
    'A person has to approve this draft first. Open the desk, and approve with the approver passphrase: `aex agent desk`.',
  approval_invalid:
    'The approval does not cover what would be sent; the reason says why. Have a person approve it again.',
  approver_missing:
    'An approval is required, and the folder has no approver. Have the person who approves run `aex agent approver init`.',
  approver_exists: 'The folder already has an approver. Replace it with the old passphrase, or reset it.',
  approver_unreadable:
    'The approver file is damaged or of another version. Restore it, or reset the approver.',
  approver_locked:
    'The approver passphrase is wrong. Enter it again; if it is lost, make a new approver: `aex agent approver reset`.',
  draft_missing: 'The folder has no open draft with this id. List the open drafts: `aex agent draft list`.',
  draft_sent: 'The draft was sent already. Continue with its package, which the details name.',
  package_sent:
    'The package was sent already, so a draft of it cannot be sent. Make an object with a new id, or continue with the package, which the details name.',
  draft_altered: 'The stored draft is not the one that was made. Discard it, and draft it again.',
  draft_limit: 'The folder has no room for the draft. Send or discard drafts, or make it smaller.',
  draft_unreadable:
    'The file of the draft is damaged, of another version, or open to other users. Discard it.',
  outbox_conflict: 'Other content was already sent under this id. Use a new id.',
  outbox_unavailable:
    'The outbox cannot be read or written. Check the disk, the permissions and who else has it open.',

  // Opening
  package_not_for_us:
    'This agent is not a party of the package that may do this. Check the id of the package, and use the folder of the agent that sent or received it.',
  content_unavailable:
    'The content is no longer available: revoked, expired or withdrawn. Ask the sender for a new package.',
  content_too_large:
    'The content exceeds the size limit. Make it smaller, or refer to a document; as the recipient, raise `maximumBytes`.',
  digest_mismatch:
    'The content does not match its digest: it was altered in transit or by the sender. Do not use it; ask the sender to send it again.',
  signature_invalid:
    'The signature is invalid. Do not use the content; send the cause, which says what differs, to the signer.',
  content_not_opened:
    'The content cannot be decrypted with the keys of this agent. Restore the key store that held the key at that time, or ask the sender to send it again to the current key.',
  content_mismatch:
    'The sealed content contradicts its metadata. Do not use it; ask the sender to correct the members that the details name, and to send it again.',

  // Receiving
  webhook_rejected:
    'The delivery was refused before anything was stored. Check the cause, which says which rule it broke; the exchange retries.',
  notification_invalid:
    'The notification breaks its schema; the failures say where. Send them to the operator of the exchange.',
  notification_keys_changed:
    'A key id never gets another key. Nothing signed with the new key is accepted; inform the operator.',
  inbox_unavailable:
    'The event could not be stored and will be delivered again. Check the disk and the permissions of the inbox.',
  event_conflict:
    'Another event with the same id is already stored. Inform the operator: an event never changes.',

  // Proof
  evidence_invalid:
    'The evidence is invalid. Do not rely on it; show the first failed check, which the details name, to the operator and the other party.',

  // The transparency log
  log_missing:
    'The exchange publishes no transparency log. Use its evidence without proofs of inclusion, or ask the operator to publish one.',
  log_unverifiable:
    'Do not rely on this log. Ask the operator whether its key was replaced, and compare the key over another channel.',
  log_split_view:
    'Keep the file, and show it to the other party and to the witnesses: `aex verify` reads it.',
  log_rolled_back:
    'Ask the operator for the log that it signed before. Events after the restored backup may be missing.',
  log_state_unreadable:
    'The file with the last checkpoint is damaged, of another version, or writable by other users. Restore it.',

  // Data spaces
  connector_missing:
    'The thread needs a data-space connector of both organizations. Set that of the agent with `aex agent connector set`, and name that of the other organization with `aex agent connector partner`.',
  connector_failed:
    'The connector failed. Check it with `aex agent connector check`; the cause has its state and both process ids.',
} as const

export type ExchangeErrorCode = keyof typeof HINTS

export const EXCHANGE_ERROR_CODES = Object.keys(HINTS) as readonly ExchangeErrorCode[]

export interface ErrorCircumstances {
  /** What happened, as a sentence. The message adds the hint. */
  readonly what?: string
  /** Names and times for diagnosis; never content. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The problem of the exchange, if the exchange refused. */
  readonly problem?: ProblemDetails
  /** Validation failures of an object, by member. */
  readonly failures?: readonly Failure[]
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean
  readonly cause?: unknown
}

/**
 * Every error of the SDK. Match on `code`; `message` and `hint` are for people.
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
  /** What happened. The message adds the first failure, the exchange's problem and the hint. */
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

/** A message is one line of a log. */
const LONGEST_DETAILS = 300

function firstFailure([first, ...others]: readonly Failure[]): string | undefined {
  if (!first) return undefined
  const { pointer, message, rule } = first
  const more = others.length === 0 ? '' : ` And ${others.length} more.`
  return `${pointer === '' ? 'The whole' : pointer}: ${message} [${rule}]${more}`
}

/** The problem as the exchange reported it; it never repeats content (ERR-02). */
function problemText(problem: ProblemDetails | undefined): string | undefined {
  if (!problem) return undefined
  const { code, title, details, correlation_id } = problem
  const members =
    Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, LONGEST_DETAILS)}`
  return `The exchange says ${code}: ${title}${members} (correlation id ${correlation_id}).`
}
