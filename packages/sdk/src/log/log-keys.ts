import type { LogKey } from '@agent-exchange/protocol'
import { CryptoError, verifyDetached } from '@agent-exchange/crypto'
import {
  isSameKey,
  LogError,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { fetchLogKeys, isUnknownToLog, type LogContext } from './log-answers.ts'
import type { LogState } from '../log-state.ts'

export interface PinnedKey {
  readonly text: string
  readonly key: VerifierKey
}

const STATEMENT_PURPOSE = 'aex-log-key'
/** Limit of the stored state; the newest are kept. */
const MAXIMUM_KEYS = 16

/** The keys that this agent knows, or at the first contact those that the platform states. */
export async function knownKeys(context: LogContext, state: LogState | undefined): Promise<PinnedKey[]> {
  return state ? state.keys.map(readKey) : statedKeys(context)
}

/**
 * After a rotation two keys sign for a time. A further key of the log is learned from a note that a known key signed
 * too, with a statement of the platform: then any two notes that exclude each other have a key in common.
 */
export async function withRotatedKeys(
  context: LogContext,
  keys: readonly PinnedKey[],
  note: string,
): Promise<readonly PinnedKey[]> {
  const signers = signersOf(note)
  if (signers.every((each) => isKnown(each, keys))) return keys
  const stated = await statedKeys(context)
  if (!signers.some((each) => isKnown(each, keys))) throw unknownLog(keys, stated)
  const added = stated.filter(
    ({ key }) => key.name === keys[0]?.key.name && !keys.some((each) => isSameKey(each.key, key)),
  )
  return [...keys, ...added].slice(-MAXIMUM_KEYS)
}

type Signer = Pick<VerifierKey, 'name' | 'id'>

/** Keys that claim to have signed in the name of the log, without those of witnesses. */
function signersOf(note: string): Signer[] {
  try {
    const { text, signatures } = parseNote(note)
    const { origin } = parseCheckpoint(text)
    return signatures.filter(({ name }) => name === origin)
  } catch (error) {
    // Whoever opens the note says what is wrong with it.
    if (error instanceof LogError) return []
    throw error
  }
}

function isKnown({ name, id }: Signer, keys: readonly PinnedKey[]): boolean {
  return keys.some(({ key }) => key.name === name && key.id === id)
}

function unknownLog(keys: readonly PinnedKey[], stated: readonly PinnedKey[]): ExchangeError {
  const [known, shown] = [keys[0]?.key.name, stated[0]?.key.name]
  const what =
    known === shown
      ? `No key that this agent knows signed the checkpoint of ${known}: its key was rotated while the agent was away, or another log took its place.`
      : `The exchange started a new log ${shown}, and this agent knows ${known}.`
  return new ExchangeError('log_unverifiable', {
    what: `${what} Ask the operator why. To begin with the new key, move log.json away and keep it as evidence.`,
    details: { known, shown },
  })
}

async function statedKeys(context: LogContext): Promise<PinnedKey[]> {
  let answer: LogKey
  try {
    answer = await fetchLogKeys(context)
  } catch (error) {
    if (isUnknownToLog(error)) throw new ExchangeError('log_missing', { cause: error })
    throw error
  }
  await requireStatement(context, answer)
  const keys = answer.verifier_keys.map(readKey)
  if (!keys.every(({ key }) => key.name === answer.origin))
    throw new ExchangeError('log_unverifiable', { what: 'The platform states a key of another log.' })
  return keys
}

/** The statement key of the platform is pinned like every key of another agent. */
async function requireStatement(
  { peers, deployment: { profile } }: AgentContext,
  { origin, verifier_keys: keys, statement }: LogKey,
): Promise<void> {
  const isSame =
    statement.purpose === STATEMENT_PURPOSE &&
    statement.origin === origin &&
    JSON.stringify(statement.verifier_keys) === JSON.stringify(keys)
  if (!isSame) throw unstated()
  const { publicKey } = await peers.signingKey(profile['O-42'].agent_id, statement.signature.key_id)
  try {
    await verifyDetached(statement, { member: 'signature', publicKey })
  } catch (cause) {
    if (cause instanceof CryptoError) throw unstated(cause)
    throw cause
  }
}

function unstated(cause?: unknown): ExchangeError {
  return new ExchangeError('log_unverifiable', {
    what: 'The log key that the exchange shows is not the one that the platform signed a statement about.',
    cause,
  })
}

function readKey(text: string): PinnedKey {
  try {
    return { text, key: parseVerifierKey(text) }
  } catch (cause) {
    throw new ExchangeError('log_unverifiable', { what: 'A log key cannot be read.', cause })
  }
}
