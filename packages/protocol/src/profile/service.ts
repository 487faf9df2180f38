import { Type } from 'typebox'
import { fixed, integer, oneOf, openPoint, unset } from './open-point.ts'

const url = Type.String({
  pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
  description: 'an http(s) address without a final slash',
})
const instant = Type.String({ format: 'date-time', pattern: 'Z$', description: 'a UTC time ending in Z' })

const perDay = Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'a number per day' })

/** Open points about the API as a whole: errors, limits, retention, versions. */
export const servicePoints = {
  'O-11': openPoint({
    meaning:
      'Problem codes and statuses other than the two shown, the definition of a conflict, and the base of problem types.',
    why: 'Each expected category has its own code, labelled as ours. The type is the URL of a page of the exchange that explains the problem.',
    settings: {
      problem_base: unset(url, 'base of problem types; unset: {base_url}/problems'),
      identifier_scope: fixed(
        'exchange',
        'agent, thread, package and policy receipt ids are unique on the exchange, key ids per agent, receipt ids per package; a collision is identifier_conflict',
      ),
      acknowledged_event: fixed(
        'compared',
        'an acknowledgement whose event_id differs from that of the notification in the path is refused',
      ),
      second_acknowledgement: fixed(
        'first_wins',
        'another acknowledgement of the same notification, with another idempotency key, gets the first one as its answer and changes nothing',
      ),
    },
  }),
  'O-13': openPoint({
    meaning: 'Rate limits and quotas of an organization, and connection limits.',
    why: 'The defaults allow 64 parallel clients at full speed and stop a runaway loop. The request rate applies to all processes together. What waits for a place or for the event loop is served by organization in turn, so that an organization that sends much delays mostly itself. The quotas of policy receipts and bytes can be exceeded by what is being committed concurrently; those of a day are exact. A process whose commit queue is full responds with service_overloaded. A flood of connections can only displace unauthenticated connections, never an authenticated request or the database. Connection limits are per process, and lower if the process may open fewer files.',
    settings: {
      requests_per_second: integer(5_000, 1, 1_000_000, 'sustained request rate of one organization'),
      burst: integer(10_000, 1, 1_000_000, 'maximum burst of requests'),
      bytes_per_request: integer(
        16_384,
        1_024,
        1_073_741_824,
        'a request counts once against rate and burst, and once more for each of these bytes in its body and in its answer',
      ),
      leased_requests: integer(
        100,
        1,
        100_000,
        'with several API processes: requests of one organization that each process takes from the common limit in advance, at most an eighth of its share of the burst; the limit is exact within this number per process',
      ),
      concurrent_changes: integer(
        4,
        1,
        1_000,
        'concurrent mutations of one organization per process, for mutations that take a separate transaction; others wait, then get a retryable problem',
      ),
      concurrent_changes_in_all: integer(
        8,
        1,
        10_000,
        'the same of all organizations together; those that wait are served by organization in turn',
      ),
      concurrent_reads: integer(
        4,
        1,
        1_000,
        'concurrent reads of pages of one organization per process: evidence, threads, notifications, skills and the transparency log; others wait, then get a retryable problem',
      ),
      concurrent_reads_in_all: integer(
        8,
        1,
        10_000,
        'the same of all organizations together; those that wait are served by organization in turn',
      ),
      concurrent_token_requests: integer(
        4,
        1,
        1_000,
        'concurrent requests to the authorization server from one address (IPv6: one /64 network) per process; others wait; does not apply to trusted proxies',
      ),
      concurrent_token_requests_in_all: integer(16, 1, 10_000, 'the same from all addresses together'),
      refused_tokens_per_second: integer(
        20,
        1,
        100_000,
        'missing or invalid tokens and refused downloads from one address (IPv6: one /64 network) per second and process, with a burst of ten seconds; later refusals are sent a second late; does not apply to trusted proxies',
      ),
      turn_milliseconds: integer(
        4,
        1,
        1_000,
        'time in which a process begins to parse and check requests before it handles what has arrived meanwhile; organizations are served in turn',
      ),
      webhook_endpoints: integer(
        20,
        1,
        1_000,
        'webhook endpoints of one organization; those that answered 410 do not count',
      ),
      agents: integer(1_000, 1, 1_000_000, 'agents of one organization'),
      keys_per_agent: integer(256, 2, 10_000, 'keys of one agent, including revoked ones'),
      revocations_per_key: integer(
        16,
        1,
        1_000,
        'revocations of one key; beyond the limit, a revocation that ends a usable key immediately is still accepted',
      ),
      unused_policy_receipts: integer(
        1_000_000,
        1,
        1_000_000_000,
        'policy receipts of one organization that no package uses',
      ),
      packages_per_day: unset(
        perDay,
        'packages that one organization may send per UTC day, without responses; an operator can set another value for an organization; unset: no limit',
      ),
      threads_per_day: unset(
        perDay,
        'threads that one organization may start per UTC day, in the same way; unset: no limit',
      ),
      stored_bytes: integer(
        107_374_182_400,
        1,
        1_000_000_000_000_000,
        'bytes of package content stored for one sending organization; retention frees them',
      ),
      receipts_per_state: integer(
        100,
        1,
        100_000,
        'package receipts per package and state, for the recipient agent and separately for all other agents together',
      ),
      joins_per_minute: integer(
        600,
        1,
        1_000_000,
        'requests to join with an invitation per minute and process, from all addresses together',
      ),
      joins_per_minute_per_address: integer(
        60,
        1,
        1_000_000,
        'requests to join per minute and process from one address (IPv6: one /64 network); does not apply to trusted proxies',
      ),
      artifact_downloads: integer(64, 1, 10_000, 'downloads of skill artifacts in progress, per process'),
      artifact_downloads_per_address: integer(
        8,
        1,
        10_000,
        'downloads of skill artifacts in progress from one address (IPv6: one /64 network); does not apply to trusted proxies',
      ),
      connections: integer(4_096, 16, 1_000_000, 'open connections of the agent API'),
      connections_per_address: integer(
        1_024,
        1,
        1_000_000,
        'open connections of the agent API from one address (IPv6: one /64 network); does not apply to trusted proxies',
      ),
      operator_connections: integer(128, 8, 10_000, 'open connections of the operator API'),
    },
  }),
  'O-14': openPoint({
    meaning: 'Size, depth and form of requests.',
    why: 'Everything that is read into memory needs a limit. Depth, lists, objects, values and escapes are counted before the JSON is parsed. The limits are far above the needs of a reasoning package. JSON that two parsers could interpret differently must not be signed or stored. The specification calls the ids of packages, policy receipts and receipts strings; they occur in URLs, commands and logs, so they need a form that is safe there. No prefix is required: that of our SDK is a habit. A thread_id has the form of the protocol objects, because audit events contain it.',
    settings: {
      request_bytes: integer(2_097_152, 1_024, 67_108_864, 'maximum size of a request body'),
      control_bytes: integer(
        1_048_576,
        1_024,
        67_108_864,
        'maximum size of a request body that carries no package, at most that of every body; the largest that a schema accepts has about 800,000 bytes',
      ),
      join_bytes: integer(
        8_192,
        1_024,
        67_108_864,
        'maximum size of a request to join with an invitation, which needs no token',
      ),
      request_bytes_in_flight: integer(
        268_435_456,
        1_048_576,
        68_719_476_736,
        'maximum total size of the request bodies of agents in one process, counted as they arrive; one organization may use an eighth of it, or one body of maximum size if that is more',
      ),
      operator_bytes_in_flight: integer(
        134_217_728,
        67_108_864,
        68_719_476_736,
        'the same for the operator API and the console, which have a budget of their own; one operator may use half of it',
      ),
      body_stall_seconds: integer(
        10,
        1,
        600,
        'time within which the next bytes of a request body must arrive; afterwards the request is refused with request_timeout',
      ),
      body_chunks: integer(
        65_536,
        1_024,
        67_108_864,
        'maximum number of chunks in which a request body arrives; each costs processor time, however small it is; without chunked transfer encoding, what one read of the connection returns is a chunk',
      ),
      artifact_cache_bytes: integer(
        67_108_864,
        1_048_576,
        68_719_476_736,
        'skill artifacts kept in memory, per process; each download in progress may hold one mebibyte more',
      ),
      request_seconds: integer(30, 1, 600, 'time within which a request must arrive'),
      header_bytes: integer(32_768, 8_192, 262_144, 'maximum size of the header section'),
      json_form: fixed(
        'i-json',
        'UTF-8 without byte order mark (RFC 7493): no duplicate names, no lone surrogates, no number outside the range of a double',
      ),
      json_depth: integer(32, 8, 128, 'maximum nesting depth of JSON'),
      identifier_characters: integer(
        256,
        134,
        1_024,
        'maximum length of an identifier, name or version; identifiers and names must not be empty',
      ),
      resource_id_form: fixed(
        'visible ASCII',
        'ids of packages, policy receipts and receipts: visible ASCII without / ? # %, and neither . nor ..',
      ),
      // The minimum is the length of the longest id of a protocol object.
      resource_id_characters: integer(200, 135, 1_024, 'maximum length of such an id'),
      text_characters: integer(
        4_096,
        256,
        65_536,
        'maximum length of free text, such as the statement of a receipt',
      ),
      null_character: fixed('refused', 'NUL in any stored text, because the database cannot store it'),
      list_items: integer(1_000, 8, 100_000, 'maximum number of items of a list in a request'),
      // The minimum exceeds the number of members of every protocol object.
      object_members: integer(
        1_000,
        64,
        100_000,
        'maximum number of members of an object in a request, such as the skills in skill_versions',
      ),
      json_values: integer(
        5_000,
        1_000,
        10_000_000,
        'maximum number of values in a request, over all depths; the largest body that a schema accepts has about 3,500',
      ),
      json_escapes: integer(
        65_536,
        4_096,
        10_000_000,
        'maximum number of escape sequences in the strings of a request',
      ),
      registration_keys: integer(16, 1, 1_000, 'maximum number of keys in one registration of an agent'),
    },
  }),
  'O-15': openPoint({
    meaning: 'Default, minimum and maximum limit of lists.',
    why: 'The specification shows 100 for polling.',
    settings: {
      default_limit: integer(100, 1, 10_000, 'items per page if the caller sets no limit'),
      maximum_limit: integer(1_000, 1, 10_000, 'maximum items per page'),
    },
  }),
  'O-16': openPoint({
    meaning: 'Rules of deprecation and sunset.',
    why: 'The specification gives none, so none are announced unless a deployment sets them.',
    settings: {
      deprecated_at: unset(instant, 'time for the Deprecation header (RFC 9745)'),
      sunset_at: unset(instant, 'time for the Sunset header (RFC 8594)'),
    },
  }),
  'O-18': openPoint({
    meaning: 'How long idempotency records, notifications, ciphertext and unused policy receipts are kept.',
    why: 'Long enough for an agent that is offline over holidays. Audit, key and revocation events are never deleted.',
    settings: {
      idempotency_days: integer(30, 1, 3_650, 'responses kept for exact retries'),
      notification_days: integer(90, 1, 3_650, 'notifications kept in the stream'),
      content_days_after_expiry: integer(
        30,
        0,
        3_650,
        'ciphertext after the expiry of its package; what expired on the same day (UTC) goes together, up to a day later',
      ),
      delivery_days: integer(
        90,
        1,
        3_650,
        'finished deliveries; their attempts cannot be read any longer and go up to a week later',
      ),
      unused_policy_receipt_days: integer(
        90,
        0,
        3_650,
        'bodies of policy receipts that no package refers to; 0: never deleted',
      ),
    },
  }),
  'O-21': openPoint({
    meaning: 'Whether "endpoint" in the scope of an idempotency key is the operation or the concrete path.',
    why: 'With the operation as scope, a key that is reused for another package is detected, which is safer.',
    settings: {
      scope: oneOf(
        ['operation', 'path'],
        'operation',
        'operation: path parameters are part of the compared content',
      ),
    },
  }),
  'O-29': openPoint({
    meaning: 'Unknown members and header parameters in requests.',
    why: 'The exchange sees no plaintext only if requests have no place for it. Names of unknown members are not echoed, because they may be content. Policy receipts, package receipts, revocations, envelopes, sealed packages, metadata and manifests are stored or signed as sent, so an unknown member or header parameter in them is always refused. Unknown members of a public JWK and unknown query parameters are always ignored and not stored.',
    settings: {
      unknown_members: oneOf(
        ['refused', 'ignored'],
        'refused',
        'in registrations of agents, keys and webhook endpoints, key revocations and acknowledgements; ignored: the request is processed without them, and they are not stored',
      ),
    },
  }),
  'O-39': openPoint({
    meaning:
      'Which values X-Correlation-ID and Idempotency-Key may have. Not in the specification’s list of open points.',
    why: 'Both are opaque. Visible ASCII is safe in logs and headers, and a UUID fits.',
    settings: { header_characters: integer(256, 36, 1_024, 'maximum length, in visible ASCII characters') },
  }),
  'O-48': openPoint({
    meaning:
      'What a refused request does to its idempotency key. Not in the specification’s list of open points.',
    why: 'A refused request has no effect, so the caller may correct it and send it with the same key. Once a request with the key succeeded, any other content is idempotency_key_reuse, also if it is invalid. Only what is refused without reading the body keeps its own problem: authentication, a suspended caller, rate, size and media type.',
    settings: {
      refused_request: fixed('free', 'the key of a refused request can be used for other content'),
    },
  }),
  'O-49': openPoint({
    meaning:
      'Which differences of clocks are tolerated in dated statements and by receivers of webhooks. Not in the specification’s list of open points.',
    why: 'Clocks of companies differ by seconds, and a strict comparison would refuse truthful statements. A large tolerance would let a recorded webhook or a statement about the future count. Times of one sender are compared exactly, and the same instant is in order, because clocks have a limited resolution. The tolerance of a receiver is its own setting, not that of the exchange.',
    settings: {
      receipt_seconds: integer(
        30,
        0,
        300,
        'occurred_at of a package receipt may be later than its arrival by at most this',
      ),
      webhook_seconds: integer(
        5,
        0,
        60,
        'our receiver tolerates this difference in the time window of a webhook signature and in the validity of its key',
      ),
      same_instant: fixed(
        'allowed',
        'evaluated_at and approved_at of a policy receipt may equal created_at of its package',
      ),
    },
  }),
}
