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
import type { Findings } from './evidence-report.ts'

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
export function isReadable(value: unknown, findings: Findings): value is EvidenceBundle {
  if (isDeeper(value, MAXIMUM_DEPTH)) {
    findings.check('the evidence is well formed', false, `it nests deeper than ${MAXIMUM_DEPTH} levels`)
    return false
  }
  const failures = validate.accepts(value) ? [] : validate(value, { nameUnknownMembers: true })
  for (const { pointer, message } of failures)
    findings.check('the evidence is well formed', false, `${pointer || 'the whole'}: ${message}`)
  return failures.length === 0
}

/** Before anything walks through the value: a deep one would exhaust the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
