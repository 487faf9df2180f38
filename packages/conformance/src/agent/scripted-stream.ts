/** One notification as the specification describes it. */
export interface Notification extends Readonly<Record<string, unknown>> {
  readonly notification_id: string
  readonly event_id: string
  readonly sequence: number
}

export interface Page {
  readonly items: readonly Notification[]
  readonly next_cursor: string
  readonly has_more: boolean
}

const DIGEST_OF_NOTHING = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'
/** Small, so that a gap of a few events already needs several pages. */
const MAXIMUM_PAGE = 2

/** The notifications of the agent's organization. Cursors say nothing, so that an agent cannot construct them. */
export class ScriptedStream {
  readonly events: Notification[] = []
  /** How often the next pages are refused as temporarily unavailable. */
  refusals = 0
  /** What the agent sent as a cursor although the exchange never gave it. */
  readonly inventedCursors: string[] = []
  readonly #cursors = new Map<string, number>()
  readonly #organizationId: string
  readonly #newId: (prefix: string) => string

  constructor(organizationId: string, newId: (prefix: string) => string) {
    this.#organizationId = organizationId
    this.#newId = newId
  }

  /** Without `append`, the event is not part of the stream. */
  draft(change: object = {}): Notification {
    return {
      notification_id: this.#newId('ntf'),
      event_id: this.#newId('evt'),
      event_type: 'package.delivered',
      protocol_version: 'svc/1.0',
      sequence: this.events.length + 1,
      occurred_at: new Date().toISOString(),
      organization_id: this.#organizationId,
      package_id: this.#newId('pkg'),
      thread_id: this.#newId('thread'),
      state: 'delivered',
      transport_mode: 'native',
      content_digest: DIGEST_OF_NOTHING,
      correlation_id: this.#newId('corr'),
      ...change,
    }
  }

  append(change: object = {}): Notification {
    const event = this.draft(change)
    this.events.push(event)
    return event
  }

  /** Undefined for a cursor that the exchange never gave. */
  page(after: string | null, limit: number): Page | undefined {
    const start = after === null ? 0 : this.#cursors.get(after)
    if (start === undefined) {
      if (after !== null) this.inventedCursors.push(after)
      return undefined
    }
    const end = Math.min(start + Math.min(limit, MAXIMUM_PAGE), this.events.length)
    const cursor = this.#newId('cursor')
    this.#cursors.set(cursor, end)
    return {
      items: this.events.slice(start, end),
      next_cursor: cursor,
      has_more: end < this.events.length,
    }
  }
}
