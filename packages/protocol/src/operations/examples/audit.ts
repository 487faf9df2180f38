import { exampleObjects } from '../../objects/examples.ts'
import type { EvidenceEntry, PackageEvidence, ThreadEvidence } from '../../resources/audit.ts'
import { agent } from './agents.ts'
import { receivedPackage, recordedReceipt } from './packages.ts'
import { policyReceiptResource } from './policy-receipts.ts'
import { PACKAGE, SUPPLIER, THREAD, TIME } from './story.ts'

const HASHES = [
  'd67fdc24b266328ec25dc2ba471f6e434946495ec9c70ade89d02bac4809a69b',
  '7221c2c03f9cc7a43c54193834c7b408b2220685581b7df2308731c8b198ccc9',
] as const

const event = exampleObjects.audit_event

const entries: EvidenceEntry[] = [
  {
    position: 1,
    event: {
      ...event,
      id: policyReceiptResource.audit_event_id,
      event_type: 'policy_evaluated',
      created_at: TIME.receiptAccepted,
      occurred_at: TIME.receiptAccepted,
      decision: 'eligible',
    },
    proof: {
      kind: 'policy_receipt_accepted',
      recorded_at: TIME.receiptAccepted,
      previous_hash: null,
      hash: HASHES[0],
    },
  },
  {
    position: 2,
    event: { ...event, created_at: TIME.accepted, occurred_at: TIME.accepted },
    proof: {
      kind: 'package_accepted',
      recorded_at: TIME.accepted,
      previous_hash: HASHES[0],
      hash: HASHES[1],
    },
  },
]

const page = { generated_at: '2026-03-02T09:00:00Z', entries, next_cursor: null, has_more: false }

export const threadEvidence: ThreadEvidence = { thread_id: THREAD, ...page }

export const packageEvidence: PackageEvidence = {
  package_id: PACKAGE,
  thread_id: THREAD,
  ...page,
  package: receivedPackage,
  policy_receipt: policyReceiptResource,
  receipts: [recordedReceipt],
  delivery_attempts: [
    {
      delivery_id: 'dlv_carmaker_41',
      attempt: 1,
      attempted_at: '2026-03-02T08:00:00.530Z',
      outcome: 'delivered',
    },
  ],
  key_history: agent.keys.slice(0, 1).map((key) => ({ agent_id: SUPPLIER.agent_id, key, events: [] })),
}
