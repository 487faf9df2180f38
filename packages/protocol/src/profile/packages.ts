import { AUDIT_EVENT_TYPES } from '../vocabulary.ts'
import { PACKAGE_STATES } from '../schema/package-state.ts'
import { fixed, flag, integer, oneOf, openPoint, someOf, text } from './open-point.ts'

const kinds = (fallback: (typeof AUDIT_EVENT_TYPES)[number][], step: string, least = 0) =>
  someOf([...AUDIT_EVENT_TYPES], fallback, `audit events left by: ${step}`, least)

/** Open points about packages, their states, threads and audit evidence. */
export const packagePoints = {
  'O-03': openPoint({
    meaning: 'What moves a package after it was accepted.',
    why: 'Each move is tied to the fact that proves it. A fact switched off here is still recorded, and moves nothing.',
    settings: {
      content_stored: flag(true, 'native content stored by the exchange: encrypted_available'),
      transfer_referenced: flag(true, 'ds_x manifest with a transfer_process_id: transfer_started'),
      content_fetched: flag(true, 'content fetched by the recipient: delivered'),
      receipt_received: flag(true, 'signed receipt "received": received'),
      receipt_opened: flag(true, 'signed receipt "opened": opened'),
      response_accepted: flag(true, 'response accepted: the package it answers is responded'),
    },
  }),
  'O-04': openPoint({
    meaning: 'What counts as access, after which a package can no longer be revoked.',
    why: 'A fetched ciphertext is not yet a read one; the recipient says by a signed receipt or by its response that it opened the package.',
    settings: {
      access_states: someOf([...PACKAGE_STATES], ['opened', 'responded'], 'states that come after access', 1),
    },
  }),
  'O-07': openPoint({
    meaning: 'The shape of audit evidence and the parameters of the audit operations.',
    why: 'Evidence is pages of entries, each an audit_event with the proof beside it, so that it can be checked without trusting the exchange. Its lists share one cursor: each holds at most limit items on a page, and has_more says whether any of them goes on.',
    settings: {
      default_limit: integer(500, 1, 5_000, 'items of a list on a page where the caller names no limit'),
      maximum_limit: integer(1_000, 1, 5_000, 'most items of a list on a page'),
    },
  }),
  'O-17': openPoint({
    meaning:
      'Which bytes content_digest covers in native mode, and what the additional authenticated data holds.',
    why: 'Receivers and senders must agree on bytes, and the exchange recomputes the digest, or a sender could have one content approved and send another. The aad stays opaque to the exchange, and is not empty (RFC 7516 has no empty one); neither is the ciphertext.',
    settings: {
      content_digest_rules: someOf(
        ['jcs-jwe', 'jwe-text', 'ciphertext-bytes'],
        ['jcs-jwe', 'jwe-text', 'ciphertext-bytes'],
        'accepted rules: RFC 8785 of the jwe object, its text as submitted, the decoded ciphertext; our SDK uses jcs-jwe',
        1,
      ),
    },
  }),
  'O-22': openPoint({
    meaning: 'What the signatures on package receipts and revocations cover, and how signatures are written.',
    why: 'The body alone names no package, so a signature over it could be shown under another one, which is refused. Our SDK signs the body with package_id added; others may not know that. A signature is read in base64 or base64url, padded or not, and compared as bytes; we write base64url without padding.',
    settings: {
      accepted_forms: someOf(
        ['bound', 'plain'],
        ['bound', 'plain'],
        'bound: body plus package_id; plain: the body as sent',
        1,
      ),
    },
  }),
  'O-23': openPoint({
    meaning: 'Which digest the package_digest of a receipt repeats.',
    why: 'content_digest identifies the package in both transports; in ds_x a recipient may hold only the digest of the asset.',
    settings: {
      ds_x_digests: someOf(
        ['content_digest', 'asset_digest'],
        ['content_digest', 'asset_digest'],
        'digests accepted for a ds_x package; native packages take content_digest',
        1,
      ),
    },
  }),
  'O-24': openPoint({
    meaning: 'How the recipient of a ds_x package learns its transfer references.',
    why: 'Without the manifest it can neither fetch nor verify. The package resource carries edc and sender_signature, for the parties only.',
    settings: { show_references: flag(true, 'edc and sender_signature in the package resource') },
  }),
  'O-26': openPoint({
    meaning: 'Which step leaves which kind of audit event.',
    why: 'Steps that have a kind of their own leave it; the rest is proof without an audit event. The exchange never sees the object inside a package, so only an id with the prefix of a reasoning package names one.',
    settings: {
      // At least one where the specification has the answer name its audit event.
      policy_receipt_accepted: kinds(['policy_evaluated'], 'policy receipt accepted', 1),
      approval_recorded: kinds(['human_approved'], 'policy receipt that records an approval'),
      package_accepted: kinds(['package_created', 'package_sent'], 'package accepted'),
      receipt_received: kinds(['package_received'], 'receipt "received"'),
      response_accepted: kinds(['response_created'], 'response accepted, on the package it answers'),
      package_revoked: kinds(['package_revoked'], 'package revoked', 1),
      other_target_type: text(
        'package',
        'object_type of a target without the prefix pkg_ and of a response; other targets are a reasoning_package',
      ),
    },
  }),
  'O-27': openPoint({
    meaning: 'What the expiry of a package blocks.',
    why: 'Expiry is no state: content and answers end, the record of what happened stays.',
    settings: {
      blocks: someOf(
        ['download', 'response'],
        ['download', 'response'],
        'what is refused after expires_at; creating an expired package always is',
      ),
    },
  }),
  'O-31': openPoint({
    meaning: 'Threads of more than two organizations.',
    why: 'An organization joins when a participant addresses it, and sees only packages it is a party to.',
    settings: {
      maximum_organizations: integer(100, 2, 10_000, 'organizations that may take part in one thread'),
    },
  }),
  'O-36': openPoint({
    meaning: 'What the download address returns and who may use it.',
    why: 'The exact submitted bytes, so that the signature can be checked; the sender is a recipient of the sealed package too. The answer is always whole: Range is ignored, so that nobody has the bytes without the evidence.',
    settings: {
      parties: someOf(['sender', 'recipient'], ['sender', 'recipient'], 'who may download', 1),
      agent_clients: oneOf(
        ['own_agent', 'organization'],
        'own_agent',
        'a client of one agent downloads packages from or to that agent, or all of its organization',
      ),
    },
  }),
  'O-37': openPoint({
    meaning: 'A thread whose organizations get approved connectors after its first package.',
    why: 'A thread has one transport as a whole, so the mode decided at its first package stays.',
    settings: { transport_mode: fixed('kept', 'the mode of a running thread never changes') },
  }),
  'O-40': openPoint({
    meaning: 'How many packages getThread returns. Found by us.',
    why: 'The operation has no paging parameters, and an answer needs a limit; the optional after and limit are ours.',
    settings: {
      default_limit: integer(500, 1, 5_000, 'packages on a page where the caller names no limit'),
      maximum_limit: integer(1_000, 1, 5_000, 'most packages on a page'),
    },
  }),
  'O-43': openPoint({
    meaning: 'In which order getThread and audit evidence list things. Found by us.',
    why: 'Order of acceptance is the only order that the exchange can vouch for; created_at is a claim.',
    settings: {
      order: fixed('acceptance', 'the order in which the exchange recorded them'),
      evidence_time: fixed(
        'recorded_at',
        'proof.recorded_at of an entry is never earlier than that of the entry before it in the thread; accepted_at and occurred_at may be',
      ),
    },
  }),
  'O-46': openPoint({
    meaning: 'Which agents of a party’s organization may respond, send receipts and revoke. Found by us.',
    why: 'The organization is the party, and an agent may have been replaced since. Only the recipient agent can say that it opened a package, so another agent cannot end the sender’s right to revoke.',
    settings: {
      responses: oneOf(
        ['organization', 'same_agents'],
        'organization',
        'any active agents of the two organizations, or the two agents of the package that is answered',
      ),
      receipts: oneOf(
        ['organization', 'recipient_agent'],
        'organization',
        'any active agent of the recipient’s organization, or the recipient agent',
      ),
      opened_by: oneOf(
        ['recipient_agent', 'organization'],
        'recipient_agent',
        'whose receipt "opened" counts as access and moves the state; others are recorded',
      ),
      revocations: oneOf(
        ['organization', 'sending_agent'],
        'organization',
        'any active agent of the sender’s organization, or the sending agent',
      ),
    },
  }),
}
