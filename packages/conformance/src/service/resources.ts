/** The bodies of successful answers, written out from the specification. */

import {
  bool,
  digest,
  id,
  integer,
  list,
  map,
  members,
  name,
  oneOf,
  optional,
  orNull,
  type Shape,
  text,
  time,
  uri,
} from './shape.ts'

const signature = members({ key_id: name, algorithm: oneOf('ES256'), signature: name })
const mode = oneOf('native', 'ds_x')
const STATES = [
  'accepted',
  'encrypted_available',
  'transfer_started',
  'delivered',
  'received',
  'opened',
  'responded',
  'revoked',
]
/** The order of the states; the two at the second step are alternatives. */
export const STATE_ORDER: Readonly<Record<string, number>> = {
  accepted: 0,
  encrypted_available: 1,
  transfer_started: 1,
  delivered: 2,
  received: 3,
  opened: 4,
  responded: 5,
}
/** Moves up to delivery happen in the background; a receipt or a webhook that fails causes no other one. */
export function isWithoutAccess(before: unknown, after: unknown): boolean {
  const [from, to, delivered] = [before, after, 'delivered'].map((each) => STATE_ORDER[String(each)] ?? NaN)
  return Number(to) >= Number(from) && Number(to) <= Number(delivered)
}
const state = oneOf(...STATES)

export const PUBLIC_KEY: Shape = {
  key_id: name,
  use: oneOf('signing', 'encryption'),
  format: oneOf('jwk'),
  public_key: members({ kty: oneOf('EC'), crv: name, x: name, y: name }),
  valid_from: time,
  status: name,
  registered_at: time,
}

export const AGENT: Shape = {
  organization_id: id('org'),
  agent_id: id('agent'),
  implementation: text,
  implementation_version: text,
  protocol_versions: list(text),
  skill_versions: map,
  transport_modes: list(mode),
  keys: list(members(PUBLIC_KEY)),
  status: name,
  registered_at: time,
  certification_status: name,
}

export const KEY_DIRECTORY: Shape = {
  directory_version: name,
  generated_at: time,
  organization_id: id('org'),
  agent_id: id('agent'),
  keys: list(members(PUBLIC_KEY)),
}

export const NOTIFICATION_KEYS: Shape = {
  directory_version: name,
  generated_at: time,
  // A key of the platform is made by it, and registered by nobody.
  keys: list(members({ ...PUBLIC_KEY, registered_at: optional(time) })),
}

export const SKILL_RELEASE: Shape = {
  skill_id: name,
  version: name,
  release_channel: name,
  protocol_range: name,
  schema_refs: list(uri),
  artifact_url: uri,
  artifact_digest: digest,
  published_at: time,
  update_policy: members({
    classification: name,
    supersedes: orNull(text),
    download_policy: name,
    activation_policy: name,
    minimum_supported_version: name,
  }),
  manifest_signature: signature,
}

export const SKILL_PAGE: Shape = {
  items: list(members(SKILL_RELEASE)),
  next_cursor: orNull(text),
  has_more: bool,
}

const RECEIPT: Shape = {
  policy_receipt_id: name,
  receipt_version: text,
  package_id: name,
  thread_id: name,
  sender_org_id: id('org'),
  sender_agent_id: id('agent'),
  recipient_org_id: id('org'),
  recipient_agent_id: id('agent'),
  protocol_version: name,
  skill_id: name,
  skill_version: name,
  content_digest: digest,
  policy_id: name,
  policy_schema_version: name,
  policy_digest: digest,
  checks: list(members({ check_id: name, outcome: name })),
  human_approval: members({ required: bool }),
  evaluated_at: time,
  statement: text,
  signature,
}

export const POLICY_RECEIPT: Shape = {
  receipt: members(RECEIPT),
  accepted_at: time,
  signature_status: oneOf('verified'),
  package_authorization: name,
  audit_event_id: name,
}

const METADATA: Shape = {
  package_id: name,
  thread_id: name,
  sender_org_id: id('org'),
  sender_agent_id: id('agent'),
  recipient_org_id: id('org'),
  recipient_agent_id: id('agent'),
  protocol_version: name,
  schema_version: name,
  skill_id: name,
  skill_version: name,
  created_at: time,
  expires_at: time,
  content_type: name,
  content_digest: digest,
  transport_mode: mode,
  policy_receipt_id: name,
}

export const PACKAGE: Shape = {
  package_id: name,
  thread_id: name,
  transport_mode: mode,
  state,
  created_at: time,
  updated_at: time,
  metadata: members(METADATA),
  ciphertext_download_url: optional(uri),
}

export const PACKAGE_RECEIPT: Shape = {
  receipt_id: name,
  state: oneOf('received', 'opened', 'rejected', 'failed'),
  occurred_at: time,
  actor_agent_id: id('agent'),
  package_digest: digest,
  signature,
  package_id: name,
  accepted_at: time,
}

export const REVOCATION: Shape = {
  package_id: name,
  state: oneOf('revoked'),
  revoked_at: time,
  outcome: name,
  future_access_blocked: bool,
  audit_event_id: name,
}

export const THREAD: Shape = {
  thread_id: name,
  protocol_version: oneOf('svc/1.0'),
  transport_mode: mode,
  participants: list(id('org')),
  packages: list(members(PACKAGE)),
  state: name,
}

export const WEBHOOK_ENDPOINT: Shape = {
  url: uri,
  event_types: list(text),
  webhook_endpoint_id: name,
  status: oneOf('active'),
  signing_key_id: name,
}

export const NOTIFICATION: Shape = {
  notification_id: name,
  event_id: name,
  event_type: name,
  protocol_version: oneOf('svc/1.0'),
  sequence: integer,
  occurred_at: time,
  organization_id: id('org'),
  package_id: name,
  thread_id: name,
  state,
  transport_mode: mode,
  content_digest: digest,
  correlation_id: text,
}

export const NOTIFICATION_PAGE: Shape = {
  items: list(members(NOTIFICATION)),
  next_cursor: text,
  has_more: bool,
}

export const ACKNOWLEDGEMENT: Shape = {
  notification_id: name,
  event_id: name,
  disposition: name,
  acknowledged_at: time,
  last_contiguous_sequence: integer,
}

const created = members({ organization_id: id('org'), agent_id: id('agent') })

export const AUDIT_EVENT: Shape = {
  id: id('audit'),
  object_type: oneOf('audit_event'),
  protocol_version: oneOf('svc/1.0'),
  schema_version: name,
  created_at: time,
  created_by: created,
  thread_id: id('thread'),
  trace: members({ correlation_id: id('corr'), idempotency_key: id('idem') }),
  event_type: oneOf(
    'package_created',
    'policy_evaluated',
    'human_approved',
    'package_sent',
    'package_received',
    'response_created',
    'thread_phase_changed',
    'network_story_created',
    'decision_made',
    'outcome_recorded',
    'package_revoked',
  ),
  occurred_at: name,
  actor: members({ organization_id: id('org') }),
  target: members({ object_id: name, object_type: name }),
}

export const PROBLEM: Shape = {
  type: uri,
  title: name,
  status: integer,
  code: name,
  correlation_id: text,
  retryable: bool,
  details: members({}),
}
