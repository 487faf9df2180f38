import { Type } from 'typebox'
import { fixed, integer, oneOf, openPoint, unset } from './open-point.ts'

const url = Type.String({
  pattern: '^https?://[^\\s?#]+[^/\\s?#]$',
  description: 'an http(s) address without a final slash',
})
const instant = Type.String({ format: 'date-time', pattern: 'Z$', description: 'a UTC time ending in Z' })

/** Open points about the API as a whole: errors, limits, retention, versions. */
export const servicePoints = {
  'O-11': openPoint({
    meaning:
      'Problem codes and statuses beyond the two shown, what is a conflict, and the base of problem types.',
    why: 'Each expected category has its own code, labelled as ours; the type leads to a page of this exchange that explains it.',
    settings: {
      problem_base: unset(url, 'base of problem types; unset: {base_url}/problems'),
      identifier_scope: fixed(
        'exchange',
        'agent, thread, package and policy receipt ids are taken once on the exchange, key ids once per agent, receipt ids once per package; a clash is identifier_conflict',
      ),
      acknowledged_event: fixed(
        'compared',
        'an acknowledgement whose event_id is not that of the notification in the path is refused',
      ),
    },
  }),
  'O-13': openPoint({
    meaning: 'Rate limits and quotas of an organization, and limits on connections.',
    why: 'Generous enough for 64 parallel clients at full speed, and still an end to a loop that ran away. Counts of policy receipts and bytes are exact up to what is being committed at the same moment. A process with too many requests waiting for their commit answers service_overloaded. A flood of connections may cost its sender a connection, never an authenticated caller or the database. Numbers of connections are per process, and lower where the process may open fewer files.',
    settings: {
      requests_per_second: integer(5_000, 1, 1_000_000, 'sustained requests of one organization'),
      burst: integer(10_000, 1, 1_000_000, 'requests that may come at once'),
      concurrent_changes: integer(
        4,
        1,
        1_000,
        'changes of one organization under way at once in one process, where each takes a transaction of its own; others wait, then get a retryable problem',
      ),
      webhook_endpoints: integer(20, 1, 1_000, 'webhook endpoints of one organization'),
      agents: integer(1_000, 1, 1_000_000, 'agents of one organization'),
      keys_per_agent: integer(256, 2, 10_000, 'keys of one agent, revoked ones included'),
      revocations_per_key: integer(
        16,
        1,
        1_000,
        'revocations of one key; beyond it, one that ends a usable key at once still works',
      ),
      unused_policy_receipts: integer(
        1_000_000,
        1,
        1_000_000_000,
        'policy receipts of one organization that no package has used',
      ),
      stored_bytes: integer(
        107_374_182_400,
        1,
        1_000_000_000_000_000,
        'bytes of package content stored for one sending organization; retention gives them back',
      ),
      receipts_per_state: integer(
        100,
        1,
        100_000,
        'package receipts of each state about one package, for the recipient agent and again for all other agents together',
      ),
      connections: integer(4_096, 16, 1_000_000, 'open connections of the agent API'),
      connections_per_address: integer(
        1_024,
        1,
        1_000_000,
        'of these, from one address (IPv6: one /64 network); trusted proxies are not limited by it',
      ),
      operator_connections: integer(128, 8, 10_000, 'open connections of the operator API'),
    },
  }),
  'O-14': openPoint({
    meaning: 'Sizes, depth and form of requests.',
    why: 'Everything that is read into memory needs an end. Sizes are far above what a reasoning package needs. What two readers of one JSON text could understand differently must not be signed or stored.',
    settings: {
      request_bytes: integer(2_097_152, 1_024, 67_108_864, 'largest request body'),
      request_bytes_in_flight: integer(
        268_435_456,
        1_048_576,
        68_719_476_736,
        'request bodies that a process reads or holds at once; one organization may use half of it',
      ),
      request_seconds: integer(30, 1, 600, 'time in which a request has to arrive'),
      header_bytes: integer(32_768, 8_192, 262_144, 'largest header section'),
      json_form: fixed(
        'i-json',
        'UTF-8 without byte order mark (RFC 7493): no repeated names, no lone surrogates, no number that a double cannot hold',
      ),
      json_depth: integer(32, 8, 128, 'deepest nesting of JSON'),
      identifier_characters: integer(
        256,
        134,
        1_024,
        'longest identifier, name or version; identifiers and names are not empty',
      ),
      text_characters: integer(4_096, 256, 65_536, 'longest free text, such as the statement of a receipt'),
      null_character: fixed('refused', 'in any text that is stored: the database cannot keep it'),
      list_items: integer(1_000, 8, 100_000, 'most entries of a list in a request'),
      // No object of the protocol has as many members as the least of these.
      object_members: integer(
        1_000,
        64,
        100_000,
        'most members of an object in a request, such as the skills in skill_versions',
      ),
      json_values: integer(100_000, 1_000, 10_000_000, 'most values in a request, at all depths together'),
      registration_keys: integer(16, 1, 1_000, 'most keys in one registration of an agent'),
    },
  }),
  'O-15': openPoint({
    meaning: 'Default, least and largest limit of listings.',
    why: '100 is the value shown for polling.',
    settings: {
      default_limit: integer(100, 1, 10_000, 'items on a page where the caller names no limit'),
      maximum_limit: integer(1_000, 1, 10_000, 'most items on a page'),
    },
  }),
  'O-16': openPoint({
    meaning: 'Rules of deprecation and sunset.',
    why: 'None are given, so none are announced until a deployment sets them.',
    settings: {
      deprecated_at: unset(instant, 'time for the Deprecation header (RFC 9745)'),
      sunset_at: unset(instant, 'time for the Sunset header (RFC 8594)'),
    },
  }),
  'O-18': openPoint({
    meaning: 'How long idempotency records, notifications, ciphertext and unused policy receipts are kept.',
    why: 'Long enough for an agent that was down over holidays. Audit, key and revocation events are never deleted.',
    settings: {
      idempotency_days: integer(30, 1, 3_650, 'answers kept for exact retries'),
      notification_days: integer(90, 1, 3_650, 'notifications kept in the stream'),
      content_days_after_expiry: integer(30, 0, 3_650, 'ciphertext kept after the package expired'),
      delivery_days: integer(90, 1, 3_650, 'finished deliveries and their attempts'),
      unused_policy_receipt_days: integer(
        90,
        0,
        3_650,
        'bodies of policy receipts that no package refers to; 0: kept for good',
      ),
    },
  }),
  'O-21': openPoint({
    meaning: 'Whether "endpoint" in the scope of an idempotency key is the operation or the concrete path.',
    why: 'By operation, a key reused for another package is seen as reuse, which is the safer error.',
    settings: {
      scope: oneOf(
        ['operation', 'path'],
        'operation',
        'operation: path parameters belong to the compared content',
      ),
    },
  }),
  'O-29': openPoint({
    meaning: 'Unknown members and header parameters in requests.',
    why: 'That the exchange sees no plaintext depends on there being no place for it; names of unknown members are not echoed, since they may be content. Policy receipts, package receipts, revocations, envelopes, sealed packages, metadata and manifests are stored or signed as they were sent, so that an unknown member or header parameter in them is always refused. Unknown members of a public JWK and unknown query parameters are always passed over and not kept.',
    settings: {
      unknown_members: oneOf(
        ['refused', 'ignored'],
        'refused',
        'in registrations of agents, keys and webhook endpoints, key revocations and acknowledgements; ignored: the request counts without them, and they are not kept',
      ),
    },
  }),
  'O-39': openPoint({
    meaning: 'Which values X-Correlation-ID and Idempotency-Key may have. Found by us.',
    why: 'Both are opaque; visible ASCII keeps them safe in logs and headers, and a UUID fits.',
    settings: { header_characters: integer(256, 36, 1_024, 'longest value, in visible ASCII characters') },
  }),
}
