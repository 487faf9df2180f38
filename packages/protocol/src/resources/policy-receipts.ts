import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import {
  agentId,
  digest,
  organizationId,
  resourceId,
  signature,
  threadId,
  timestamp,
} from '../schema/shared.ts'
import { request, resource, text } from './forms.ts'

export const POLICY_CHECK_IDS = [
  'object_schema',
  'skill_profile',
  'prohibited_disclosure',
  'recipient_authorization',
  'retention_and_forwarding',
] as const

const outcome = (...values: string[]) => Type.String({ ...ours('O-34'), ...inUse(...values) })

const check = request({ check_id: Type.Enum([...POLICY_CHECK_IDS]), outcome: outcome('passed') })

/** Five entries that contain each check, so each check occurs once. */
const checks = Type.Array(check, {
  minItems: 5,
  maxItems: 5,
  allOf: POLICY_CHECK_IDS.map((id) => ({
    description: `an entry whose "check_id" is "${id}"; each of the five checks is listed once`,
    contains: { properties: { check_id: { const: id } }, required: ['check_id'], type: 'object' },
    ...proves('POL-02'),
  })),
  ...proves('POL-02'),
})

export const policyReceipt = define(
  'PolicyReceipt',
  request(
    {
      policy_receipt_id: resourceId,
      receipt_version: text,
      package_id: resourceId,
      thread_id: threadId,
      sender_org_id: organizationId,
      sender_agent_id: agentId,
      recipient_org_id: organizationId,
      recipient_agent_id: agentId,
      protocol_version: text,
      skill_id: text,
      skill_version: text,
      content_digest: digest,
      policy_id: text,
      policy_schema_version: text,
      policy_digest: digest,
      checks,
      human_approval: request({
        required: Type.Boolean(),
        outcome: Type.Optional(outcome('approved')),
        approval_reference: Type.Optional(text),
        approved_at: Type.Optional(timestamp),
      }),
      evaluated_at: timestamp,
      statement: text,
      signature,
    },
    proves({ default: 'POL-02', additionalProperties: 'POL-02' }),
  ),
)

export const policyReceiptResource = define(
  'PolicyReceiptResource',
  resource({
    receipt: policyReceipt,
    accepted_at: timestamp,
    signature_status: outcome('verified'),
    package_authorization: outcome('eligible'),
    audit_event_id: text,
  }),
)

export type PolicyReceipt = Static<typeof policyReceipt>
export type PolicyReceiptResource = Static<typeof policyReceiptResource>
