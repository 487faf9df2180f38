import { validatorFor, type JsonObject } from '@agent-exchange/protocol'
import { bundleMembers, closed, definitions, isDeeper, list, text } from '../evidence/bundle-shape.ts'
import { MAXIMUM_DEPTH } from '../evidence/evidence-bundle.ts'
import { MAXIMUM_PROOF_HASHES } from '../notes/tlog-proof.ts'
import {
  CAPSULE_FORMAT,
  MAXIMUM_HISTORY,
  MAXIMUM_KEY_EVENTS,
  MAXIMUM_RECORDS,
  type Capsule,
} from './capsule-format.ts'

const position: JsonObject = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

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

const log = closed(
  {
    key: text,
    checkpoint: text,
    records: list(recordProof, MAXIMUM_RECORDS),
    key_events: list(keyEventProof, MAXIMUM_KEY_EVENTS),
    history: list(
      closed({ checkpoint: text, consistency: list(text, MAXIMUM_PROOF_HASHES) }),
      MAXIMUM_HISTORY,
    ),
  },
  'history',
)

const capsule = closed({ format: { const: CAPSULE_FORMAT }, ...bundleMembers, log }, 'unlinked_entries')
const validate = validatorFor<Capsule>({ ...capsule, $defs: definitions }, 'O-07')

/** Why a value is not a capsule of version 2; empty where it is one. */
export function shapeFaults(value: unknown): string[] {
  if (isDeeper(value, MAXIMUM_DEPTH)) return [`it nests deeper than ${MAXIMUM_DEPTH} levels`]
  if (validate.accepts(value)) return []
  return validate(value, { nameUnknownMembers: true }).map(
    ({ pointer, message }) => `${pointer || 'the whole'}: ${message}`,
  )
}
