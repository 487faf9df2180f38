import { Type, type Static } from 'typebox'
import { auditEvent } from '../objects/audit-event.ts'
import { ours } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { objectId, threadId, timestamp } from '../schema/shared.ts'
import { lastPageHasNoCursor, name, resource } from './forms.ts'
import { publicKey } from './keys.ts'
import { packageResource, receiptResource } from './packages.ts'
import { policyReceiptResource } from './policy-receipts.ts'

/** Shapes of audit evidence are ours as a whole (O-07). */
const evidenceHash = Type.String({
  description: 'SHA-256 in hexadecimal; the first entry of a thread has no previous one',
})

const proof = Type.Object(
  {
    kind: Type.String({ description: 'what is proved, such as package_accepted or receipt_opened' }),
    recorded_at: timestamp,
    previous_hash: Type.Union([evidenceHash, Type.Null()]),
    hash: evidenceHash,
  },
  { description: 'what a verifier needs beside the event: digests, signatures, key ids, the hash chain' },
)

export const evidenceEntry = define(
  'EvidenceEntry',
  resource({ position: Type.Integer({ minimum: 1 }), event: Type.Optional(auditEvent), proof }, ours('O-07')),
)

const page = {
  generated_at: timestamp,
  entries: Type.Array(evidenceEntry),
  next_cursor: lastPageHasNoCursor,
  has_more: Type.Boolean(),
}

export const threadEvidence = define(
  'ThreadAuditEvidence',
  resource({ thread_id: threadId, ...page }, ours('O-07')),
)

const deliveryAttempt = Type.Object({
  delivery_id: name,
  attempt: Type.Integer({ minimum: 1 }),
  attempted_at: timestamp,
  outcome: Type.String(),
})

/** A key of one of the parties with everything that happened to it, for verification long afterwards (ID-05). */
const keyHistory = Type.Object({
  agent_id: name,
  key: publicKey,
  events: Type.Array(Type.Object({ kind: Type.String(), recorded_at: timestamp, details: Type.Object({}) })),
  accepted_after_invalid_from: Type.Optional(
    Type.Boolean({
      description:
        'this key signed the package or a statement about it that was accepted after its invalid_from, before the revocation',
    }),
  ),
})

export const packageEvidence = define(
  'PackageAuditEvidence',
  resource(
    {
      package_id: objectId,
      thread_id: threadId,
      ...page,
      package: packageResource,
      policy_receipt: policyReceiptResource,
      receipts: Type.Array(receiptResource),
      delivery_attempts: Type.Array(deliveryAttempt),
      key_history: Type.Array(keyHistory),
    },
    ours('O-07'),
  ),
)

export type EvidenceEntry = Static<typeof evidenceEntry>
export type ThreadEvidence = Static<typeof threadEvidence>
export type PackageEvidence = Static<typeof packageEvidence>
