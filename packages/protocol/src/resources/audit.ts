import { Type, type Static } from 'typebox'
import { auditEvent } from '../objects/audit-event.ts'
import { ours } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { resourceId, threadId, timestamp } from '../schema/shared.ts'
import { lastPageHasNoCursor, name, resource } from './forms.ts'
import { publicKey } from './keys.ts'
import { packageResource, receiptResource } from './packages.ts'
import { policyReceiptResource } from './policy-receipts.ts'

/** The format of audit evidence is ours (O-07). */
const evidenceHash = Type.String({ description: 'SHA-256 in hexadecimal' })

const kind = Type.String({
  description:
    'the proven event: policy_receipt_accepted, approval_recorded, package_accepted, content_fetched, receipt_received, ' +
    'receipt_opened, receipt_rejected, receipt_failed, response_accepted, package_revoked or delivery_replayed',
})

const proof = Type.Object(
  {
    kind,
    recorded_at: {
      ...timestamp,
      description:
        'UTC; determines the order of entries, and is never earlier than that of the previous entry of the thread (O-43)',
    },
    previous_hash: Type.Optional(
      Type.Union([evidenceHash, Type.Null()], {
        description: 'only in entries without chain; the first one of a thread has null',
      }),
    ),
    hash: Type.Optional({ ...evidenceHash, description: 'only in entries without chain' }),
  },
  {
    description: [
      'Data that a verifier needs in addition to the event. The other members depend on kind.',
      'policy_receipt_accepted, approval_recorded: accepted_at, policy_receipt_id, content_digest, policy_digest, signature; the receipt itself is in the evidence of its package.',
      'package_accepted: acceptance, the signed statement of the platform, in the first of its entries.',
      'receipt_*: all signed members except state, which is in the kind; accepted_at, signature_form, and state if the package changed its state.',
      'package_revoked: requested_at, reason_code, reason_detail, signature, accepted_at, signature_form.',
      'response_accepted: response_package_id, content_digest and the acceptance of the response, and state if the package moved.',
      'content_fetched: organization_id, client_id and, if the token has one, agent_id; once per client.',
      'delivery_replayed: delivery_id, replay_of, notification_id, event_id, webhook_endpoint_id, actor, reason; only for the organization whose delivery it is.',
    ].join(' '),
  },
)

/** Version 2 of the evidence (docs/transparency.md). Entries of packages from before have none. */
const chainPlace = {
  package_id: resourceId,
  position: Type.Integer({ minimum: 1, description: 'in the chain of the package, from 1 and without gaps' }),
  previous_hash: {
    ...evidenceHash,
    description: 'the link of the entry before, in hexadecimal; the first entry has the start of the chain',
  },
  hash: {
    ...evidenceHash,
    description: 'the link of this entry, in hexadecimal: it covers event, proof and all entries before it',
  },
}

export const evidenceEntry = define(
  'EvidenceEntry',
  resource(
    {
      position: Type.Integer({ minimum: 1, description: 'in the thread' }),
      event: Type.Optional(auditEvent),
      proof,
      chain: Type.Optional(
        Type.Object(
          { ...chainPlace, visibility: Type.Enum(['both', 'one']) },
          {
            description:
              'place of the entry in the chain of its package; entries of packages from before version 2 have none',
          },
        ),
      ),
    },
    ours('O-07'),
  ),
)

export const hiddenEntry = define(
  'HiddenEvidenceEntry',
  resource(
    {
      position: Type.Integer({ minimum: 1, description: 'in the thread' }),
      kind: Type.String({ description: 'delivery_replayed: no other kind may be hidden' }),
      chain: Type.Object({
        ...chainPlace,
        visibility: Type.Literal('one'),
        body_hash: {
          ...evidenceHash,
          description: 'SHA-256 in hexadecimal over RFC 8785 of event and proof',
        },
      }),
    },
    ours('O-07'),
  ),
)

export const unlinkedEntry = define(
  'UnlinkedEvidenceEntry',
  resource(
    {
      event: Type.Optional(auditEvent),
      proof: Type.Object(
        { kind, recorded_at: timestamp },
        { description: 'as in an entry of the chain, without the link to the previous one' },
      ),
    },
    ours('O-07'),
  ),
)

const page = {
  generated_at: timestamp,
  entries: Type.Array(evidenceEntry, {
    description: 'the entries of the chain that the caller is a party to; other positions are missing',
  }),
  hidden_entries: Type.Optional(
    Type.Array(hiddenEntry, {
      description:
        'placeholders of entries that only the other organization of the package may see; they count towards limit',
    }),
  ),
  next_cursor: lastPageHasNoCursor,
  has_more: Type.Boolean({
    description:
      'whether any list of this response continues with next_cursor; each has at most limit items per page',
  }),
}

export const threadEvidence = define(
  'ThreadAuditEvidence',
  resource(
    {
      thread_id: threadId,
      ...page,
      unlinked_entries: Type.Optional(
        Type.Array(unlinkedEntry, {
          description:
            'entries of the caller’s policy receipts that no package refers to, which are in no chain; ordered by recorded_at',
        }),
      ),
    },
    ours('O-07'),
  ),
)

const deliveryAttempt = Type.Object({
  delivery_id: name,
  attempt: Type.Integer({ minimum: 1 }),
  attempted_at: timestamp,
  outcome: Type.String(),
})

/** A key of a party with its history, for later verification (ID-05). */
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
      package_id: resourceId,
      thread_id: threadId,
      ...page,
      package: packageResource,
      policy_receipt: policyReceiptResource,
      receipts: Type.Array(receiptResource, {
        description: 'the receipts whose entries are on this page, each with its signature_form (O-22)',
      }),
      delivery_attempts: Type.Array(deliveryAttempt, {
        description: 'delivery attempts to the caller’s endpoints, ordered by attempted_at',
      }),
      key_history: Type.Array(keyHistory, {
        description: 'the keys that signed the package or a statement about it, complete on every page',
      }),
    },
    ours('O-07'),
  ),
)

export type EvidenceEntry = Static<typeof evidenceEntry>
export type HiddenEvidenceEntry = Static<typeof hiddenEntry>
export type UnlinkedEntry = Static<typeof unlinkedEntry>
export type ThreadEvidence = Static<typeof threadEvidence>
export type PackageEvidence = Static<typeof packageEvidence>
