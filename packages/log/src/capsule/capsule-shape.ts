import { validatorFor, type JsonObject } from '@agent-exchange/protocol'
import { bundleMembers, closed, definitions, list, shapeFaultsBy, text } from '../evidence/bundle-shape.ts'
import type { CheckValues } from '../verdict/check.ts'
import { MAXIMUM_PROOF_HASHES } from '../notes/tlog-proof.ts'
import {
  CAPSULE_FORMAT,
  MAXIMUM_HISTORY,
  MAXIMUM_KEY_EVENTS,
  MAXIMUM_RECORDS,
  type Capsule,
} from './capsule-format.ts'

export const position: JsonObject = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

const recordProof = closed({
  package_id: text,
  first_position: position,
  last_position: position,
  salt: text,
  proof: text,
})

const keyEventProof = closed(
  {
    organization_id: text,
    agent_id: text,
    number: position,
    key_id: text,
    kind: text,
    use: text,
    thumbprint: text,
    valid_from: text,
    recorded_at: text,
    invalid_from: text,
    salt: text,
    proof: text,
  },
  'invalid_from',
)

/** The members of `log` that every version has. */
export const logMembers: JsonObject = {
  key: text,
  checkpoint: text,
  key_events: list(keyEventProof, MAXIMUM_KEY_EVENTS),
  history: list(closed({ checkpoint: text, consistency: list(text, MAXIMUM_PROOF_HASHES) }), MAXIMUM_HISTORY),
}

const log = closed({ ...logMembers, records: list(recordProof, MAXIMUM_RECORDS) }, 'history')

const capsule = closed({ format: { const: CAPSULE_FORMAT }, ...bundleMembers, log }, 'unlinked_entries')
const validate = validatorFor<Capsule>({ ...capsule, $defs: definitions }, 'O-07')

/** Where a value differs from the closed schema of format 2; empty where it conforms. */
export function capsuleV2Faults(value: unknown): CheckValues[] {
  return shapeFaultsBy(validate, value)
}
