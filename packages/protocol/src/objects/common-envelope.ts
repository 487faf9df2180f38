import { Type, type TObjectOptions, type TProperties } from 'typebox'
import { proves } from '../schema/annotations.ts'
import {
  createdBy,
  idWithPrefix,
  protocolVersion,
  schemaVersion,
  threadId,
  timestamp,
  trace,
  type ObjectType,
} from '../schema/shared.ts'

const missing = proves({ required: 'OBJ-03' })
const inEnvelope = <T extends object>(schema: T): T => ({ ...schema, ...missing })

/** The common members of the six objects. */
export const commonEnvelope = <T extends ObjectType>(type: T, prefix: string) => ({
  id: { ...idWithPrefix(prefix), ...proves({ default: 'OBJ-01', required: 'OBJ-03' }) },
  object_type: Type.Enum([type], proves({ default: 'OBJ-03' })),
  protocol_version: inEnvelope(protocolVersion),
  schema_version: inEnvelope(schemaVersion),
  created_at: inEnvelope(timestamp),
  created_by: inEnvelope(createdBy),
  trace: inEnvelope(trace),
})

/** All objects except policy_envelope belong to a thread. */
export const inThread = { thread_id: inEnvelope(threadId) }

/** Names of these members: a program fills them in, and no person or model writes them. */
export const ENVELOPE_MEMBERS: readonly string[] = Object.keys({
  ...commonEnvelope('audit_event', 'audit'),
  ...inThread,
})

/** The six objects reject unknown top-level members; nested objects are open unless stated otherwise. */
export function protocolObject<P extends TProperties>(
  requirement: string,
  properties: P,
  /** Rules between members that JSON Schema can express. */
  rules: TObjectOptions = {},
) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...rules,
    ...proves({ default: requirement, additionalProperties: 'OBJ-04' }),
  })
}
