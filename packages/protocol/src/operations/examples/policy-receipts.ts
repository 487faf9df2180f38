import { exampleObjects } from '../../objects/examples.ts'
import {
  POLICY_CHECK_IDS,
  type PolicyReceipt,
  type PolicyReceiptResource,
} from '../../resources/policy-receipts.ts'
import { DIGEST, KEY, POLICY, ROUTE, signedBy, TIME } from './story.ts'

export const policyReceipt: PolicyReceipt = {
  ...ROUTE,
  receipt_version: '1.0',
  policy_id: POLICY.policy_id,
  policy_schema_version: exampleObjects.policy_envelope.schema_version,
  policy_digest: DIGEST.policy,
  checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'passed' })),
  human_approval: {
    required: true,
    outcome: 'approved',
    approval_reference: POLICY.human_approval.approval_id,
    approved_at: '2026-03-02T07:57:30Z',
  },
  evaluated_at: TIME.evaluated,
  statement: 'Evaluated by the sender before sealing.',
  signature: signedBy(KEY.supplierSigning),
}

export const policyReceiptResource: PolicyReceiptResource = {
  receipt: policyReceipt,
  accepted_at: TIME.receiptAccepted,
  signature_status: 'verified',
  package_authorization: 'eligible',
  audit_event_id: 'audit_seat_rails_policy',
}
