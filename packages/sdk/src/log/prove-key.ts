import type { LoggedKeyEvent } from '@agent-exchange/protocol'
import {
  evaluateQuorum,
  leafHash,
  LogError,
  openCheckpoint,
  proveInclusion,
  verifyInclusion,
  type LogPolicy,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { KeyClaim, KeyProof } from '../peers/key-proof.ts'
import { checkLog, type AcceptedCheckpoint } from './accept-checkpoint.ts'
import { fetchKeyEvents, tileReader } from './log-answers.ts'
import { shownKeyLeaf } from './shown-key-leaf.ts'

/** Key events of one agent that are proved for one key; each takes a few tiles. */
const MAXIMUM_PROVED_EVENTS = 1_000

/**
 * O-47: proves that the key event of a peer's key is in the log, at a checkpoint that continues what this agent has
 * seen. All earlier events of the peer have to be there too, by their numbers and without gaps: then the monitor of its
 * owner, which searches the next numbers, has found this one.
 */
export async function proveLoggedKey(context: AgentContext, claim: KeyClaim): Promise<KeyProof> {
  const events = await fetchEvents(context, claim.agentId)
  const registration = events.find((event) => isRegistrationOf(event, claim))
  if (!registration || registration.number > MAXIMUM_PROVED_EVENTS) return 'unlogged'
  // The newest checkpoint last: it then covers every index above.
  const checkpoint = await checkLog(context)
  if (!checkpoint) return 'pending'
  const needed = events.filter(({ number }) => number <= registration.number)
  requireNumbers(claim, needed, registration.number)
  for (const event of needed) if (isPending(event, checkpoint)) return 'pending'
  await requireInclusion(context, claim.agentId, needed, checkpoint)
  return (await isWitnessed(checkpoint, context.logPolicy)) ? 'logged' : 'pending'
}

async function fetchEvents(context: AgentContext, agentId: string): Promise<LoggedKeyEvent[]> {
  try {
    return await fetchKeyEvents(context, agentId)
  } catch (error) {
    if (error instanceof ExchangeError && error.details['status'] === 404) return []
    throw error
  }
}

function isRegistrationOf(event: LoggedKeyEvent, claim: KeyClaim): boolean {
  return (
    event.kind === 'registered' &&
    event.key_id === claim.keyId &&
    event.use === claim.use &&
    event.thumbprint === claim.fingerprint &&
    event.organization_id === claim.organizationId &&
    event.valid_from === claim.validFrom
  )
}

function requireNumbers({ agentId }: KeyClaim, events: readonly LoggedKeyEvent[], last: number): void {
  const numbers = new Set(events.map(({ number }) => number))
  if (numbers.size === last && events.length === last) return
  throw new ExchangeError('log_unverifiable', {
    what: `The exchange shows key event ${last} of ${agentId} and not each of those before it once.`,
    details: { agentId },
  })
}

function isPending({ index, salt, pending }: LoggedKeyEvent, { size }: AcceptedCheckpoint): boolean {
  return pending === true || index === undefined || salt === undefined || index >= size
}

/** Each leaf is the event that the exchange shows, in the order of the numbers. */
async function requireInclusion(
  context: AgentContext,
  agentId: string,
  events: readonly LoggedKeyEvent[],
  { size, root }: AcceptedCheckpoint,
): Promise<void> {
  const readTile = tileReader(context, size)
  let before = -1
  for (const event of events.toSorted((a, b) => a.number - b.number)) {
    const { index = -1 } = event
    const leaf = shownKeyLeaf(agentId, event) ?? new Uint8Array()
    try {
      const proof = await proveInclusion(index, size, readTile)
      verifyInclusion({ index, size, root, leafHash: leafHash(leaf), proof })
    } catch (cause) {
      if (!(cause instanceof LogError)) throw cause
      throw notThere(agentId, event, cause)
    }
    if (index <= before) throw notThere(agentId, event)
    before = index
  }
}

function notThere(agentId: string, { number }: LoggedKeyEvent, cause?: unknown): ExchangeError {
  return new ExchangeError('log_unverifiable', {
    what: `The log does not hold key event ${number} of ${agentId} where the exchange says.`,
    details: { agentId, number },
    cause,
  })
}

/** With a policy: a log key that it names signed the checkpoint, and its quorum of witnesses cosigned it. */
async function isWitnessed({ note }: AcceptedCheckpoint, policy: LogPolicy | undefined): Promise<boolean> {
  if (!policy) return true
  try {
    const keys = [...policy.logs, ...policy.witnesses].map(({ key }) => key)
    const { signatures } = await openCheckpoint(note, keys)
    return policy.quorum === undefined || evaluateQuorum(policy, signatures).isMet
  } catch (error) {
    if (error instanceof LogError) return false
    throw error
  }
}
