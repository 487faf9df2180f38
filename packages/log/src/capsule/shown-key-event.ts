import { decodeBase64url } from '@agent-exchange/crypto'
import { keyLeaf } from '../leaf/key-leaf.ts'
import type { KeyEventProof } from './capsule-format.ts'

/** The leaf of a key event as a capsule or the exchange shows it. */
export function leafOfShownEvent({ salt, ...event }: Omit<KeyEventProof, 'proof'>): Uint8Array {
  return keyLeaf(
    {
      organizationId: event.organization_id,
      agentId: event.agent_id,
      number: event.number,
      keyId: event.key_id,
      kind: event.kind,
      use: event.use,
      thumbprint: event.thumbprint,
      validFrom: event.valid_from,
      recordedAt: event.recorded_at,
      invalidFrom: event.invalid_from,
    },
    decodeBase64url(salt),
  )
}
