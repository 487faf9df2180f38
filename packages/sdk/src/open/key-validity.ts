import { isEarlier, signingKeyFault } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { PeerKey } from '../peers/peer-directory.ts'
import type { Arrival } from './arrival.ts'

/**
 * ID-05 for a key of the sender. Evidence is read only where the verdict depends on the arrival: for a key that has an
 * end, and for one that was not valid yet by what the exchange states.
 */
export async function requireKeyInTime(
  { entry, agentId, keyId }: PeerKey,
  claimedAt: string,
  { stated, proved }: Arrival,
): Promise<void> {
  const needsProof = entry.invalid_from !== undefined || isEarlier(stated, entry.valid_from) !== false
  const arrivedAt = needsProof ? await proved() : stated
  const fault = signingKeyFault(entry, { claimedAt, arrivedAt })
  if (fault === undefined) return
  const details = { agentId, keyId }
  if (fault === 'revoked') throw new ExchangeError('peer_key_revoked', { details })
  throw new ExchangeError('signature_invalid', { what: 'The key was not valid yet at that time.', details })
}
