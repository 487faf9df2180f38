import { description, table } from './table.ts'

/** A delivery in the operator API. */
export interface ShownDelivery {
  readonly delivery_id: string
  readonly state: string
  readonly attempt: number
  readonly next_attempt_at?: string
  readonly endpoint?: {
    readonly url?: string
    readonly status?: string
    readonly status_reason?: string | null
  }
  readonly what_to_do?: string
  readonly attempts: readonly ShownAttempt[]
  readonly replays: readonly object[]
}

interface ShownAttempt {
  readonly attempt: number
  readonly started_at: string
  readonly outcome: string
  readonly details: Readonly<Record<string, unknown>>
}

const ATTEMPT_COLUMNS = [
  'attempt',
  'started_at',
  'outcome',
  'status',
  'error_class',
  'duration_ms',
  'address',
  'tls_version',
  'key_id',
  'next_attempt_at',
]
const REPLAY_COLUMNS = ['delivery_id', 'state', 'created_at', 'replay_actor', 'replay_reason']
/** Printed separately: long values. */
const APART = new Set(['error', 'signature_base', 'response_excerpt'])

/** A delivery with all attempts, its summary first. */
export function deliveryReport({
  endpoint = {},
  attempts,
  replays,
  what_to_do,
  ...delivery
}: ShownDelivery): string {
  const last = attempts.at(-1)
  const parts = [
    headline({ ...delivery, endpoint, attempts, replays }),
    ...(what_to_do === undefined ? [] : [what_to_do]),
    description({
      ...delivery,
      url: endpoint.url,
      endpoint_status: endpoint.status,
      endpoint_reason: endpoint.status_reason,
    }),
    attempts.length > 0 ? `Attempts\n${attemptTable(attempts)}` : 'No attempt was made.',
    ...attempts.flatMap(({ attempt, details }) => excerpt(`Error of attempt ${attempt}`, details['error'])),
    ...excerpt('Answer to the last attempt', last?.details['response_excerpt']),
    ...excerpt(
      `Signature base of attempt ${last?.attempt} (compare it with what the receiver computes)`,
      last?.details['signature_base'],
    ),
    ...(replays.length > 0 ? [`Replays\n${table(replays, REPLAY_COLUMNS)}`] : []),
  ]
  return parts.join('\n\n')
}

function headline({
  state,
  attempt,
  next_attempt_at,
  endpoint = {},
  attempts,
  replays,
}: ShownDelivery): string {
  const last = attempts.at(-1)
  const why = last && last.outcome !== 'delivered' ? `, last result: ${resultOf(last)}` : ''
  const times = `${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`
  if (state === 'delivered') return `Delivered by attempt ${attempt}.`
  if (state === 'pending') {
    const held =
      endpoint.status === 'active' ? '' : `; its endpoint is ${endpoint.status}, so nothing is sent`
    const start = last
      ? `Retrying after ${attempts.length} failed ${attempts.length === 1 ? 'attempt' : 'attempts'}`
      : 'Pending'
    return `${start}${why}. Next attempt: ${next_attempt_at ?? 'not planned'}${held}.`
  }
  const end = state === 'dead' ? `Dead letter after ${times}` : `Failed for good after ${times}`
  const replay = replays.length > 0 ? ' It was replayed, see below.' : ''
  return `${end}${why}.${replay}`
}

function resultOf({ outcome, details }: ShownAttempt): string {
  const { status, error_class } = details
  if (typeof status === 'number') return `status ${status}`
  return typeof error_class === 'string' ? error_class : outcome
}

/** Omits columns that are empty or the same in all rows. */
function attemptTable(attempts: readonly ShownAttempt[]): string {
  const rows: Record<string, unknown>[] = attempts.map(({ details, ...attempt }) => ({
    ...details,
    ...attempt,
  }))
  const known = new Set(ATTEMPT_COLUMNS)
  const others = rows
    .flatMap((row) => Object.keys(row))
    .filter((name) => !known.has(name) && !APART.has(name))
  const columns = [...ATTEMPT_COLUMNS, ...new Set(others)].filter((name) =>
    rows.some((row) => row[name] !== undefined && row[name] !== null),
  )
  return table(rows, columns)
}

/** Foreign text: indented, without terminal control sequences. */
function excerpt(title: string, text: unknown): string[] {
  if (typeof text !== 'string' || text === '') return []
  const lines = text.split('\n').map((line) => `  ${table([{ line }], ['line']).split('\n')[1] ?? ''}`)
  return [`${title}\n${lines.join('\n')}`]
}
