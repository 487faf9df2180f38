import { Type } from 'typebox'
import { AUDIT_EVENT_TYPES } from '../vocabulary.ts'
import { PACKAGE_STATES } from '../schema/package-state.ts'
import { fixed, flag, integer, oneOf, openPoint, someOf, text, unset } from './open-point.ts'

/** Name of a transparency log. C2SP signed-note: a key name has neither spaces nor plus signs. */
export const LOG_ORIGIN = '^[A-Za-z0-9][A-Za-z0-9._~:/-]*$'

const kinds = (fallback: (typeof AUDIT_EVENT_TYPES)[number][], step: string, least = 0) =>
  someOf([...AUDIT_EVENT_TYPES], fallback, `audit events created by: ${step}`, least)

/** Open points about packages, their states, threads and audit evidence. */
export const packagePoints = {
  'O-03': openPoint({
    meaning: 'Which events change the state of a package after it was accepted.',
    why: 'Each transition requires the event that proves it. An event that is disabled here is still recorded but does not change the state.',
    settings: {
      content_stored: flag(true, 'native content stored by the exchange: encrypted_available'),
      transfer_referenced: flag(true, 'ds_x manifest with a transfer_process_id: transfer_started'),
      content_fetched: flag(true, 'content fetched by the recipient: delivered'),
      receipt_received: flag(true, 'signed receipt "received": received'),
      receipt_opened: flag(true, 'signed receipt "opened": opened'),
      response_accepted: flag(true, 'response accepted: the answered package becomes responded'),
    },
  }),
  'O-04': openPoint({
    meaning: 'What counts as access, after which a package can no longer be revoked.',
    why: 'Fetching the ciphertext does not mean reading it. The recipient states by a signed receipt or by a response that it opened the package.',
    settings: {
      access_states: someOf([...PACKAGE_STATES], ['opened', 'responded'], 'states that imply access', 1),
    },
  }),
  'O-07': openPoint({
    meaning: 'The format of audit evidence and the parameters of the audit operations.',
    why: 'Evidence consists of pages of entries. Each entry is an audit_event with its proof, so that it can be verified without trusting the exchange. The lists share one cursor: each has at most limit items per page, and has_more is true if any list continues.',
    settings: {
      default_limit: integer(500, 1, 5_000, 'items per list and page if the caller sets no limit'),
      maximum_limit: integer(1_000, 1, 5_000, 'maximum items per list and page'),
      transparency_origin: unset(
        Type.String({ pattern: LOG_ORIGIN, maxLength: 200 }),
        'name of the transparency log; unset: the host of the public URL followed by /log',
      ),
      transparency_public: flag(
        false,
        'true: checkpoint, tiles and key of the transparency log need no access token; they reveal the volume of the exchange',
      ),
      transparency_sequence_milliseconds: integer(
        250,
        20,
        10_000,
        'pause between two searches for leaves that wait for the transparency log',
      ),
      transparency_checkpoint_milliseconds: integer(
        10_000,
        100,
        600_000,
        'pause between two checkpoints while the transparency log grows',
      ),
      transparency_maximum_delay_seconds: integer(
        60,
        1,
        86_400,
        'time within which a record is in a published checkpoint; operators are alerted when it takes longer',
      ),
      transparency_key_overlap_days: integer(
        90,
        1,
        3_650,
        'time after a rotation of the log key during which both keys sign each checkpoint',
      ),
    },
  }),
  'O-17': openPoint({
    meaning:
      'Which bytes content_digest covers in native mode, and what the additional authenticated data contain.',
    why: 'Sender and receiver must agree on the bytes. The exchange recomputes the digest; otherwise a sender could get one content approved and send another. The aad is opaque to the exchange, and to an opener unless our SDK wrote it. Neither the aad (RFC 7516) nor the ciphertext may be empty.',
    settings: {
      additional_data: fixed(
        'aex-aad/1',
        'the aad of our SDK: RFC 8785 of an object with this format, the metadata without content_digest and transport_mode, `key_commitment` (HMAC-SHA-256 of a tag under the content key, base64url) and `log` (the newest checkpoint of the transparency log that the sender verified); an opener refuses other metadata and another content key than those, ignores members that it does not know, and never refuses aad of another form',
      ),
      content_digest_rules: someOf(
        ['jcs-jwe', 'jwe-text', 'ciphertext-bytes'],
        ['jcs-jwe', 'jwe-text', 'ciphertext-bytes'],
        'accepted rules: RFC 8785 of the jwe object, its text as submitted, the decoded ciphertext; our SDK uses jcs-jwe',
        1,
      ),
    },
  }),
  'O-22': openPoint({
    meaning: 'What the signatures of package receipts and revocations cover, and how signatures are encoded.',
    why: 'The body does not name the package, so a signature over it could be reused for another package, which is refused. Our SDK signs the body with package_id added; other clients may not. A signature is accepted in base64 or base64url, padded or not, and compared as bytes. We write base64url without padding.',
    settings: {
      accepted_forms: someOf(
        ['bound', 'plain'],
        ['bound', 'plain'],
        'bound: the body plus package_id; plain: the body as sent',
        1,
      ),
    },
  }),
  'O-23': openPoint({
    meaning: 'Which digest the package_digest of a receipt repeats.',
    why: 'content_digest identifies the package in both transport modes. In ds_x a recipient may know only the digest of the asset.',
    settings: {
      ds_x_digests: someOf(
        ['content_digest', 'asset_digest'],
        ['content_digest', 'asset_digest'],
        'digests accepted for a ds_x package; native packages always use content_digest',
        1,
      ),
    },
  }),
  'O-24': openPoint({
    meaning: 'How the recipient of a ds_x package learns its transfer references.',
    why: 'Without the manifest the recipient can neither fetch nor verify the package. The package resource contains edc and sender_signature, for the parties only.',
    settings: { show_references: flag(true, 'edc and sender_signature in the package resource') },
  }),
  'O-26': openPoint({
    meaning: 'Which step creates which type of audit event.',
    why: 'A step that has its own event type creates an audit event; other steps are recorded as proof without one. The exchange never sees the object inside a package, so it names a target reasoning_package only if the id has that prefix.',
    settings: {
      // At least one if the specification requires the response to name its audit event.
      policy_receipt_accepted: kinds(['policy_evaluated'], 'policy receipt accepted', 1),
      approval_recorded: kinds(['human_approved'], 'policy receipt that records an approval'),
      package_accepted: kinds(['package_created', 'package_sent'], 'package accepted'),
      receipt_received: kinds(['package_received'], 'receipt "received"'),
      response_accepted: kinds(['response_created'], 'response accepted, on the package it answers'),
      package_revoked: kinds(['package_revoked'], 'package revoked', 1),
      other_target_type: text(
        'package',
        'object_type of a response and of a target without the prefix pkg_; other targets are a reasoning_package',
      ),
    },
  }),
  'O-27': openPoint({
    meaning: 'What the expiry of a package blocks.',
    why: 'Expiry is not a state: it ends downloads and responses, and the record remains.',
    settings: {
      blocks: someOf(
        ['download', 'response'],
        ['download', 'response'],
        'what is refused after expires_at; creating an expired package is always refused',
      ),
    },
  }),
  'O-31': openPoint({
    meaning: 'Threads with more than two organizations.',
    why: 'An organization joins a thread when a participant addresses it. It sees only the packages that it is a party to.',
    settings: {
      maximum_organizations: integer(100, 2, 10_000, 'organizations that may take part in one thread'),
    },
  }),
  'O-36': openPoint({
    meaning: 'What a download returns and who may download.',
    why: 'A download returns the exact submitted bytes, so that the signature can be verified. The sender may download too, because the package is also sealed for the sender. Range is ignored, so that the recipient’s organization gets no byte without evidence: the first fetch of each of its clients is an entry. A download by the sender leaves no entry, because it says nothing about delivery.',
    settings: {
      parties: someOf(['sender', 'recipient'], ['sender', 'recipient'], 'who may download', 1),
      agent_clients: oneOf(
        ['own_agent', 'organization'],
        'own_agent',
        'which packages a client of one agent may download: those from or to that agent, or all of its organization',
      ),
    },
  }),
  'O-37': openPoint({
    meaning: 'Threads whose organizations get approved connectors after the first package.',
    why: 'A thread has one transport mode, which its first package determines.',
    settings: { transport_mode: fixed('kept', 'the mode of an existing thread never changes') },
  }),
  'O-40': openPoint({
    meaning: 'How many packages getThread returns. Not in the specification’s list of open points.',
    why: 'The operation has no paging parameters, but a response needs a limit. The optional parameters after and limit are ours.',
    settings: {
      default_limit: integer(500, 1, 5_000, 'packages per page if the caller sets no limit'),
      maximum_limit: integer(1_000, 1, 5_000, 'maximum packages per page'),
    },
  }),
  'O-43': openPoint({
    meaning:
      'The order of packages in getThread and of entries in audit evidence, and the times of a package resource. Not in the specification’s list of open points.',
    why: 'The exchange can guarantee only the order of acceptance; created_at is a claim of the sender.',
    settings: {
      order: fixed('acceptance', 'the order in which the exchange recorded the packages and entries'),
      evidence_time: fixed(
        'recorded_at',
        'proof.recorded_at is never earlier than that of the previous entry of the thread; accepted_at and occurred_at may be',
      ),
      package_times: fixed(
        'acceptance',
        'created_at of a package resource is the time of acceptance, and updated_at that of its last change of state; metadata.created_at is the claim of the sender',
      ),
    },
  }),
  'O-46': openPoint({
    meaning:
      'Which agents of a party’s organization may respond, send receipts and revoke. Not in the specification’s list of open points.',
    why: 'The organization is the party, and its agent may have been replaced in the meantime. Of receipts, only "opened" by the recipient agent itself counts as access. A response, by whichever agent of the organization, shows that the organization read the package, so it counts as access too and ends the sender’s right to revoke (O-04).',
    settings: {
      responses: oneOf(
        ['organization', 'same_agents'],
        'organization',
        'any active agents of the two organizations, or only the two agents of the answered package',
      ),
      receipts: oneOf(
        ['organization', 'recipient_agent'],
        'organization',
        'any active agent of the recipient’s organization, or only the recipient agent',
      ),
      opened_by: oneOf(
        ['recipient_agent', 'organization'],
        'recipient_agent',
        'whose receipt "opened" counts as access and changes the state; other receipts are only recorded',
      ),
      revocations: oneOf(
        ['organization', 'sending_agent'],
        'organization',
        'any active agent of the sender’s organization, or only the sending agent',
      ),
    },
  }),
  'O-50': openPoint({
    meaning:
      'From which organizations an organization accepts packages. Not in the specification’s list of open points.',
    why: 'Anyone may send by default, because the specification shows no consent. An operator can give each organization a list of accepted organizations and a list of blocked ones. A refused sender gets recipient_not_capable without a reason, so it learns nothing about the lists.',
    settings: {
      accepts_from: oneOf(
        ['anyone', 'listed'],
        'anyone',
        'for organizations whose operator has set nothing: every organization that is not blocked, or only those on the list of accepted ones',
      ),
      listed_organizations: integer(
        1_000,
        1,
        100_000,
        'maximum number of organizations on both lists of one organization together',
      ),
      always_accepted: fixed(
        'answers',
        'responses, receipts and revocations that concern packages already accepted, and packages within one organization',
      ),
    },
  }),
  'O-51': openPoint({
    meaning:
      'When the retention that a sender asks for begins at the recipient. Not in the specification’s list of open points.',
    why: 'A recipient keeps content from when it opened the package, so that the days count in which it can be read. The recipient decides: the exchange does not see content.',
    settings: {
      retention_begins: oneOf(
        ['opened', 'accepted'],
        'opened',
        'when the recipient opened the package, or when the exchange accepted it',
      ),
    },
  }),
}
