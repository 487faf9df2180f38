import { flag, fixed, integer, oneOf, openPoint, someOf, text, texts } from './open-point.ts'

/** Open points about agents, keys, skills and who may do what. */
export const identityPoints = {
  'O-05': openPoint({
    meaning:
      'Status values of keys, agents, certification, threads and endpoints, how key status moves, and what replaces_key_id does.',
    why: 'The values shown are used as they are. A replaced key keeps verifying what was already signed with it, so it becomes retiring rather than invalid. Only an agent whose status is active sends and receives.',
    settings: {
      initial_agent_status: text('active', 'status of a newly registered agent'),
      initial_certification_status: text(
        'uncertified',
        'certification status until an operator says otherwise',
      ),
      agent_statuses: texts(
        ['active', 'suspended', 'paused', 'disabled', 'retired'],
        'what an operator may set the status of an agent to; only active agents send and receive',
        1,
      ),
      certification_statuses: texts(
        ['uncertified', 'pending', 'certified', 'expired', 'revoked'],
        'what an operator may set the certification status of an agent to',
        1,
      ),
      thread_state: text('active', 'state shown for a thread'),
      replaced_key_status: oneOf(
        ['retiring', 'active'],
        'retiring',
        'what becomes of a key once another names it in replaces_key_id',
      ),
      replaceable_keys: fixed(
        'active or revoked',
        'replaces_key_id names a registered key of the same agent and use that nothing replaced before',
      ),
      key_material: fixed(
        'once per use',
        'an agent has the same key material once for each use, and never again after its revocation',
      ),
    },
  }),
  'O-06': openPoint({
    meaning: 'Skill vocabularies, the syntax of protocol_range, and what the manifest signature covers.',
    why: 'Vocabularies are free text. A range is a list of comparators over versions, as package managers have it, and a bare version means just that version. A range that cannot be read is refused at publishing.',
    settings: {
      protocol_range_syntax: fixed(
        'comparators',
        'comparators such as ">=svc/1.0 <svc/2.0", alternatives separated by "||"',
      ),
      unreadable_range: oneOf(
        ['incompatible', 'compatible'],
        'incompatible',
        'how a release counts whose range cannot be read, published before ranges were checked',
      ),
      manifest_signature: fixed('rfc8785', 'signed over RFC 8785 of the release without manifest_signature'),
    },
  }),
  'O-09': openPoint({
    meaning: 'Which role may call which operation, beyond what the authorization statements say.',
    why: 'A token speaks for one organization. A client bound to one agent acts as that agent only, and reads the stream that the agent needs.',
    settings: {
      agent_clients_use_stream: flag(true, 'a client of one agent reads and acknowledges notifications'),
      agent_clients_manage_endpoints: flag(true, 'a client of one agent registers webhook endpoints'),
    },
  }),
  'O-20': openPoint({
    meaning: 'How organizations, clients, connector connections and skills come to be.',
    why: 'The agent API has no operation for it, so it is the operator who provisions, on a listener of its own. That API is ours as a whole, with the limits that its answers name.',
    settings: { provisioning: fixed('operator', 'through the operator API and the aex command') },
  }),
  'O-28': openPoint({
    meaning: 'Curves of encryption keys other than P-256.',
    why: 'P-256 is the only curve shown. Signing keys are P-256 whatever is set here.',
    settings: {
      encryption_curves: someOf(
        ['P-256', 'P-384', 'P-521'],
        ['P-256'],
        'curves an encryption key may use',
        1,
      ),
    },
  }),
  'O-32': openPoint({
    meaning: 'Whether an agent may register again.',
    why: 'An agent that was upgraded has to say so. Keys have operations of their own, so a second registration never changes them.',
    settings: {
      second_registration: oneOf(
        ['update', 'refuse'],
        'update',
        'update everything but keys, or answer with a conflict',
      ),
    },
  }),
  'O-38': openPoint({
    meaning: 'Validity and rotation times of the keys that sign webhooks. Found by us.',
    why: 'A new key is to be published before it signs, and agents are to refresh before valid_until; without times neither can be planned.',
    settings: {
      lead_seconds: integer(172_800, 0, 2_592_000, 'time between publishing a key and signing with it'),
      validity_days: integer(365, 1, 3_650, 'time from valid_from to valid_until'),
      retiring_days: integer(7, 0, 365, 'time a replaced key stays listed as retiring'),
    },
  }),
  'O-42': openPoint({
    meaning: 'As whom the platform itself appears. Found by us.',
    why: 'Skill releases are signed and some audit events are caused by no agent; both name an organization and an agent.',
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
  'O-08': openPoint({
    meaning: 'Token endpoint address, scopes and token lifetimes.',
    why: 'The address is found by standard discovery (RFC 9728, RFC 8414). Short tokens make a stolen one worth little; no scope is needed, since the client decides what a token may do.',
    settings: {
      access_token_seconds: integer(300, 30, 3_600, 'lifetime of an access token'),
      assertion_seconds: integer(300, 10, 3_600, 'longest lifetime of a client assertion'),
      assertion_algorithm: fixed(
        'ES256',
        'how a client signs its assertion, which names one audience and a jti',
      ),
      assertion_id_characters: integer(256, 36, 1_024, 'longest jti of a client assertion'),
      token_characters: integer(8_192, 1_024, 32_768, 'longest Authorization header'),
      key_lead_seconds: integer(600, 10, 86_400, 'time between publishing a token key and signing with it'),
      clock_skew_seconds: integer(30, 0, 300, 'difference of clocks that is forgiven'),
      scope: fixed('none', 'no scope is asked for or needed'),
    },
  }),
  'O-30': openPoint({
    meaning: 'Whether mutual TLS is required beside private_key_jwt.',
    why: 'Either one binds a client. A certificate shown at the token endpoint binds the token in any case.',
    settings: { require_mutual_tls: flag(false, 'refuse tokens that are not bound to a certificate') },
  }),
}
