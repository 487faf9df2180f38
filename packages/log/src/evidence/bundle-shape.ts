import {
  edcReferences,
  evidenceEntry,
  nameOf,
  packageMetadata,
  policyReceipt,
  publicKey,
  schemaDocument,
  validatorFor,
  type JsonObject,
  type Named,
  type Validator,
} from '@agent-exchange/protocol'
import {
  EVIDENCE_FORMAT,
  MAXIMUM_DEPTH,
  MAXIMUM_ENTRIES,
  MAXIMUM_EVENTS_OF_KEY,
  MAXIMUM_KEYS,
  MAXIMUM_PACKAGES,
  type EvidenceBundle,
} from './evidence-bundle.ts'
import { MAXIMUM_FAULTS, type Checks, type CheckValues } from '../verdict/check.ts'

/** A bundle is closed: a member that no step verifies would be a claim that nobody checked. */
export function closed(properties: JsonObject, ...optional: string[]): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', additionalProperties: false, required, properties }
}

const PARTS: readonly Named<unknown>[] = [
  evidenceEntry,
  packageMetadata,
  policyReceipt,
  publicKey,
  edcReferences,
]

export const definitions = Object.assign(
  {},
  ...PARTS.map(nameOf).map((name) => {
    const { $defs = {}, $schema: _, $id: __, ...schema } = schemaDocument(name)
    return { ...($defs as JsonObject), [name]: schema }
  }),
) as JsonObject

export const ref = ({ $ref }: Named<unknown>): JsonObject => ({ $ref })
export const list = (items: JsonObject, maxItems: number): JsonObject => ({ type: 'array', maxItems, items })
export const text: JsonObject = { type: 'string' }
const object: JsonObject = { type: 'object' }

const hashes: JsonObject = { previous_hash: { type: ['string', 'null'] }, hash: text }
const threadEntry: JsonObject = {
  ...ref(evidenceEntry),
  type: 'object',
  required: ['proof'],
  properties: {
    proof: { type: 'object', required: Object.keys(hashes), properties: hashes },
    chain: false,
  },
}

const packageRecord = closed(
  {
    metadata: ref(packageMetadata),
    policy_receipt: ref(policyReceipt),
    positions: list({ type: 'integer' }, MAXIMUM_ENTRIES),
    edc: ref(edcReferences),
    sender_signature: object,
    delivery_attempts: list(object, MAXIMUM_ENTRIES),
  },
  'edc',
  'sender_signature',
  'delivery_attempts',
)

const keyEvent: JsonObject = {
  type: 'object',
  required: ['kind', 'recorded_at', 'details'],
  properties: { kind: text, recorded_at: text, details: object },
}

const keyRecord = closed(
  {
    organization_id: text,
    agent_id: text,
    key: ref(publicKey),
    events: list(keyEvent, MAXIMUM_EVENTS_OF_KEY),
  },
  'events',
)

const unlinkedEntry = closed(
  { event: object, proof: { type: 'object', required: ['kind'], properties: { kind: text } } },
  'event',
)

/** The members that every version has, without `format`. */
export const bundleMembers: JsonObject = {
  thread_id: text,
  entries: list(threadEntry, MAXIMUM_ENTRIES),
  packages: list(packageRecord, MAXIMUM_PACKAGES),
  keys: list(keyRecord, MAXIMUM_KEYS),
  unlinked_entries: list(unlinkedEntry, MAXIMUM_ENTRIES),
}

const bundle = closed({ format: { const: EVIDENCE_FORMAT }, ...bundleMembers }, 'unlinked_entries')

const validate = validatorFor<EvidenceBundle>({ ...bundle, $defs: definitions }, 'O-07')

/** Evidence comes from a file or from somebody else: nothing is read before its shape is known. */
export function isReadable(value: unknown, checks: Checks): value is EvidenceBundle {
  const faults = shapeFaultsBy(validate, value)
  for (const values of faults) checks.fails('capsule_readable', { values })
  return faults.length === 0
}

/** Names each place where a value differs from a closed schema. */
export function shapeFaultsBy(schema: Validator<unknown>, value: unknown): CheckValues[] {
  if (isDeeper(value, MAXIMUM_DEPTH)) return [{ fault: 'too_deep', levels: MAXIMUM_DEPTH }]
  if (schema.accepts(value)) return []
  return schema(value, { nameUnknownMembers: true })
    .slice(0, MAXIMUM_FAULTS)
    .map(({ pointer, message }) => ({ fault: 'schema', pointer, message }))
}

/** Before anything walks through the value: a deep one would exhaust the stack. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
