import { Type, type Static } from 'typebox'
import { lastPageHasNoCursor, name, resource } from '../resources/forms.ts'
import { define } from '../schema/define.ts'

/** Longest text of one member: a proof of a leaf, or a checkpoint with all of its cosignatures. */
const MAXIMUM_TEXT = 262_144
const MAXIMUM_ITEMS = 10_000
const MAXIMUM_KEYS = 16
/** Hashes of a consistency proof: about one for each level of a tree, which has fewer than 2^53 leaves. */
const MAXIMUM_HASHES = 64

const bounded = (description: string) => Type.String({ minLength: 1, maxLength: MAXIMUM_TEXT, description })
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const hashes = Type.Array(bounded('a hash in base64'), { maxItems: MAXIMUM_HASHES })
const verifierKeys = Type.Array(bounded('a verifier key (C2SP signed-note)'), {
  minItems: 1,
  maxItems: MAXIMUM_KEYS,
})
const publishedCheckpoint = bounded('a checkpoint as a signed note (C2SP tlog-checkpoint)')
const newestCheckpoint = Type.Union([publishedCheckpoint, Type.Null()], {
  description: 'the newest published checkpoint; null until there is one',
})

/** Either proved, or a promise that the log has yet to keep. */
const leaf = {
  salt: Type.Optional(bounded('opens this leaf alone; base64url')),
  index: Type.Optional(count),
  proof: Type.Optional(bounded('the inclusion proof (C2SP tlog-proof)')),
  pending: Type.Optional(Type.Boolean({ description: 'true until a published checkpoint covers the leaf' })),
}
const pageEnd = { next_cursor: Type.Optional(lastPageHasNoCursor), has_more: Type.Boolean() }
const positions = { first_position: count, last_position: count }

export const logKey = define(
  'logKey',
  resource({
    origin: name,
    verifier_keys: verifierKeys,
    previous: Type.Optional(resource({ origin: name, checkpoint: publishedCheckpoint })),
    statement: resource({
      purpose: name,
      origin: name,
      verifier_keys: verifierKeys,
      signature: resource({ key_id: name }),
    }),
    witnesses: Type.Optional(Type.Array(bounded('a verifier key of a witness'))),
  }),
)
export type LogKey = Static<typeof logKey>

const loggedRecord = resource({
  package_id: name,
  ...positions,
  chain: Type.Optional(resource(positions)),
  ...leaf,
})
export type LoggedRecord = Static<typeof loggedRecord>

export const logRecordPage = define(
  'logRecordPage',
  resource({
    thread_id: Type.Optional(name),
    checkpoint: newestCheckpoint,
    records: Type.Array(loggedRecord, { maxItems: MAXIMUM_ITEMS }),
    ...pageEnd,
  }),
)

export type LogRecordPage = Static<typeof logRecordPage>

/** Each head is a signed statement. `isPackageHead` of the log package checks its members. */
export const logHeadPage = define(
  'logHeadPage',
  resource({
    thread_id: Type.Optional(name),
    heads: Type.Array(Type.Object({}), { maxItems: MAXIMUM_ITEMS }),
    ...pageEnd,
  }),
)
export type LogHeadPage = Static<typeof logHeadPage>

const loggedKeyEvent = resource({
  number: count,
  organization_id: name,
  key_id: name,
  kind: name,
  use: name,
  thumbprint: name,
  valid_from: name,
  recorded_at: name,
  invalid_from: Type.Optional(name),
  ...leaf,
})
export type LoggedKeyEvent = Static<typeof loggedKeyEvent>

export const logKeyEventPage = define(
  'logKeyEventPage',
  resource({
    agent_id: Type.Optional(name),
    checkpoint: newestCheckpoint,
    events: Type.Array(loggedKeyEvent, { maxItems: MAXIMUM_ITEMS }),
    ...pageEnd,
  }),
)
export type LogKeyEventPage = Static<typeof logKeyEventPage>

export const logConsistency = define(
  'logConsistency',
  resource({ from: count, checkpoint: publishedCheckpoint, proof: hashes }),
)
export type LogConsistency = Static<typeof logConsistency>

const MAXIMUM_HISTORY = 1_000

export const logHistory = define(
  'logHistory',
  resource({
    checkpoint: publishedCheckpoint,
    history: Type.Array(resource({ checkpoint: publishedCheckpoint, consistency: hashes }), {
      maxItems: MAXIMUM_HISTORY,
    }),
  }),
)
export type LogHistory = Static<typeof logHistory>
