import { flag, fixed, integer, oneOf, openPoint, someOf, text, texts } from './open-point.ts'

/** Open points about agents, keys, skills and authorization. */
export const identityPoints = {
  'O-05': openPoint({
    meaning:
      'Status values of keys, agents, certification, threads and endpoints; transitions of key status; the effect of replaces_key_id.',
    why: 'We use the values that the specification shows. A replaced key still verifies existing signatures, so it becomes retiring instead of invalid. Only an agent with the status active can send and receive.',
    settings: {
      initial_agent_status: text('active', 'status of a newly registered agent'),
      initial_certification_status: text('uncertified', 'certification status until an operator changes it'),
      agent_statuses: texts(
        ['active', 'suspended', 'paused', 'disabled', 'retired'],
        'agent statuses that an operator can set; only active agents can send and receive',
        1,
      ),
      certification_statuses: texts(
        ['uncertified', 'pending', 'certified', 'expired', 'revoked'],
        'certification statuses that an operator can set',
        1,
      ),
      thread_state: text('active', 'state shown for a thread'),
      replaced_key_status: oneOf(
        ['retiring', 'active'],
        'retiring',
        'status of a key after another key names it in replaces_key_id',
      ),
      replaceable_keys: fixed(
        'active or revoked',
        'replaces_key_id must name a registered key of the same agent and use that has not been replaced before',
      ),
      key_material: fixed(
        'once per use',
        'an agent can register the same key material once for each use, and not again after its revocation',
      ),
    },
  }),
  'O-06': openPoint({
    meaning: 'Skill vocabularies, the syntax of protocol_range, and what the manifest signature covers.',
    why: 'Vocabularies are free text. A range is a list of version comparators, as in package managers, and a bare version means exactly that version. A release with an unreadable range is refused.',
    settings: {
      protocol_range_syntax: fixed(
        'comparators',
        'comparators such as ">=svc/1.0 <svc/2.0", alternatives separated by "||"',
      ),
      unreadable_range: oneOf(
        ['incompatible', 'compatible'],
        'incompatible',
        'how to treat a release with an unreadable range that was published before ranges were checked',
      ),
      manifest_signature: fixed('rfc8785', 'signed over RFC 8785 of the release without manifest_signature'),
    },
  }),
  'O-09': openPoint({
    meaning: 'Which role may call which operation, beyond what the authorization statements say.',
    why: 'A token represents one organization. A client that is bound to one agent acts only as that agent, and can read the stream that the agent needs.',
    settings: {
      agent_clients_use_stream: flag(true, 'a client of one agent can read and acknowledge notifications'),
      agent_clients_manage_endpoints: flag(true, 'a client of one agent can register webhook endpoints'),
    },
  }),
  'O-20': openPoint({
    meaning: 'How organizations, clients, connector connections and skills are created.',
    why: 'The agent API has no operation for this, so the operator provisions them through the operator API on a separate listener. The whole operator API is ours, including the limits that its responses name.',
    settings: { provisioning: fixed('operator', 'through the operator API and the aex command') },
  }),
  'O-28': openPoint({
    meaning: 'Curves of encryption keys other than P-256.',
    why: 'P-256 is the only curve that the specification shows. Signing keys always use P-256.',
    settings: {
      encryption_curves: someOf(
        ['P-256', 'P-384', 'P-521'],
        ['P-256'],
        'curves allowed for encryption keys',
        1,
      ),
    },
  }),
  'O-32': openPoint({
    meaning: 'Whether an agent may register again.',
    why: 'An upgraded agent has to update its registration. Keys have their own operations, so a second registration never changes them.',
    settings: {
      second_registration: oneOf(
        ['update', 'refuse'],
        'update',
        'update everything except keys, or respond with a conflict',
      ),
    },
  }),
  'O-38': openPoint({
    meaning:
      'Validity and rotation times of the keys that sign webhooks. Not in the specification’s list of open points.',
    why: 'A new key must be published before it signs, and agents must refresh before valid_until. Both need defined times.',
    settings: {
      lead_seconds: integer(172_800, 0, 2_592_000, 'time between publishing a key and signing with it'),
      validity_days: integer(365, 1, 3_650, 'time from valid_from to valid_until'),
      retiring_days: integer(7, 0, 365, 'time for which a replaced key is listed as retiring'),
    },
  }),
  'O-42': openPoint({
    meaning:
      'The organization and agent that represent the platform. Not in the specification’s list of open points.',
    why: 'Signed skill releases, and audit events that no agent caused, have to name an organization and an agent.',
    settings: {
      organization_id: text('org_platform', 'organization of the platform', { pattern: '^org_[A-Za-z0-9]' }),
      agent_id: text('agent_platform', 'agent of the platform', { pattern: '^agent_[A-Za-z0-9]' }),
      key_lead_seconds: integer(
        600,
        10,
        2_592_000,
        'time between publishing a statement key and signing with it',
      ),
    },
  }),
  'O-47': openPoint({
    meaning:
      'When a changed key of another agent counts for whoever verifies its signatures or seals for it. Not in the specification’s list of open points.',
    why: 'The specification verifies against the key directory, which the operator writes. Each agent decides this for itself, and nothing that an exchange publishes changes it. A key that a pinned key introduced always counts. A peer that once introduced keys must go on. A peer that never did may rotate in the transparency log, where its owner’s monitor finds every key event. The operator writes that log, so sealing for a changed key waits for an introduction or a person.',
    settings: {
      verifying: oneOf(
        ['logged', 'strict', 'directory'],
        'logged',
        'a changed signing key without an introduction. logged: if its key event is in the transparency log, proved against a checkpoint that continues those this agent has seen, and witnessed if its log policy names witnesses; strict: if a person confirmed it; directory: if the key directory shows it',
      ),
      sealing: oneOf(
        ['introduced', 'directory'],
        'introduced',
        'a changed encryption key without an introduction. introduced: if a person confirmed it; directory: if the key directory shows it',
      ),
    },
  }),
  'O-08': openPoint({
    meaning: 'The address of the token endpoint, scopes and token lifetimes.',
    why: 'Clients find the address by standard discovery (RFC 9728, RFC 8414). Short lifetimes limit the use of a stolen token. No scope is needed, because the client determines what a token may do.',
    settings: {
      access_token_seconds: integer(300, 30, 3_600, 'lifetime of an access token'),
      assertion_seconds: integer(300, 10, 3_600, 'maximum lifetime of a client assertion'),
      assertion_algorithm: fixed(
        'ES256',
        'signature algorithm of client assertions; an assertion has one audience and a jti',
      ),
      assertion_id_characters: integer(256, 36, 1_024, 'maximum length of the jti of a client assertion'),
      token_characters: integer(8_192, 1_024, 32_768, 'maximum length of the Authorization header'),
      key_lead_seconds: integer(600, 10, 86_400, 'time between publishing a token key and signing with it'),
      clock_skew_seconds: integer(30, 0, 300, 'tolerated clock skew'),
      external_token_seconds: integer(
        7_200,
        60,
        86_400,
        'maximum lifetime (exp minus iat) of an access token of an external issuer (AEX_ISSUER)',
      ),
      scope: fixed('none', 'scopes are not used'),
    },
  }),
  'O-30': openPoint({
    meaning: 'Whether mutual TLS is required in addition to private_key_jwt.',
    why: 'Each of them authenticates a client. A certificate that is presented at the token endpoint always binds the token.',
    settings: { require_mutual_tls: flag(false, 'reject tokens that are not bound to a certificate') },
  }),
}
