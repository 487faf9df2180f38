import {
  protocolObjects,
  edcReferences,
  packageMetadata,
  policyReceipt,
  signature,
  SIGNATURE_ALGORITHM,
  validatorFor,
  type JsonObject,
} from '@agent-exchange/protocol'
import { closed, definitions, list, ref, shapeFaultsBy, text } from '../evidence/bundle-shape.ts'
import { MAXIMUM_ENTRIES, MAXIMUM_KEYS, MAXIMUM_PACKAGES } from '../evidence/evidence-bundle.ts'
import type { CheckValues } from '../verdict/check.ts'
import { VISIBILITIES } from '../leaf/one-sided-kinds.ts'
import { MAXIMUM_RECORDS } from './capsule-format.ts'
import { logMembers, position } from './capsule-shape.ts'
import { CAPSULE_V3_FORMAT, type CapsuleV3 } from './capsule-v3-format.ts'
import { PACKAGE_HEAD_TYPE, type PackageHead } from './package-head.ts'

const hash: JsonObject = { type: 'string', pattern: '^[0-9a-f]{64}$' }

/** The members of a proof depend on its kind; all of them are hashed. */
const proof: JsonObject = {
  type: 'object',
  required: ['kind', 'recorded_at'],
  properties: { kind: text, recorded_at: text },
}

const has = (member: string): JsonObject => ({
  type: 'object',
  required: [member],
  properties: { [member]: {} },
})

const shownEntry = closed(
  { position, visibility: { enum: [...VISIBILITIES] }, event: ref(protocolObjects.audit_event), proof },
  'event',
)
const hiddenEntry = closed({ position, kind: text, visibility: { const: 'one' }, body_hash: hash })
const entry: JsonObject = {
  type: 'object',
  if: has('body_hash'),
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: hiddenEntry,
  else: shownEntry,
}

const record = closed({ first_position: position, last_position: position, salt: text, proof: text })

/** In one spelling, because no hash covers it: O-22 allows two alphabets and padding elsewhere. */
const uncoveredSignature = closed({
  key_id: text,
  algorithm: { const: SIGNATURE_ALGORITHM },
  signature: { type: 'string', pattern: '^[A-Za-z0-9_-]{85}[AQgw]$' },
})

const headMembers = {
  type: { const: PACKAGE_HEAD_TYPE },
  package_id: text,
  thread_id: text,
  position,
  link: hash,
  log: closed({ origin: text, size: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } }),
  stated_at: text,
}

const head = closed({ ...headMembers, signature: uncoveredSignature })
/** As the exchange states it. */
const statedHead = closed({ ...headMembers, signature: ref(signature) })

const disclosure = closed({
  envelope: text,
  content_key: text,
  disclosed_by: closed({ organization_id: text, agent_id: text }),
  signature: uncoveredSignature,
})

const packageRecord = closed(
  {
    metadata: ref(packageMetadata),
    policy_receipt: ref(policyReceipt),
    edc: ref(edcReferences),
    sender_signature: uncoveredSignature,
    entries: list(entry, MAXIMUM_ENTRIES),
    records: list(record, MAXIMUM_RECORDS),
    head,
    disclosure,
  },
  'edc',
  'sender_signature',
  'head',
  'disclosure',
)

const key = closed({
  organization_id: text,
  agent_id: text,
  key_id: text,
  public_key: closed({ kty: { const: 'EC' }, crv: text, x: text, y: text }),
})

const capsule = closed({
  format: { const: CAPSULE_V3_FORMAT },
  thread_id: text,
  packages: list(packageRecord, MAXIMUM_PACKAGES),
  keys: list(key, MAXIMUM_KEYS),
  log: closed(logMembers, 'history'),
})

const validate = validatorFor<CapsuleV3>({ ...capsule, $defs: definitions }, 'O-07')

/** Where a value differs from the closed schema of `aex-evidence/3`; empty where it conforms. */
export function capsuleV3Faults(value: unknown): CheckValues[] {
  return shapeFaultsBy(validate, value)
}

const validateHead = validatorFor<PackageHead>({ ...statedHead, $defs: definitions }, 'O-07')

/** Whether a value has the form of a head. Who signed it is another question. */
export function isPackageHead(value: unknown): value is PackageHead {
  return validateHead.accepts(value)
}
