import {
  CryptoError,
  parseStrictJson,
  verifyWebhook,
  type JsonValue,
  type VerifiedWebhook,
} from '@agent-exchange/crypto'
import {
  DEFAULT_PROFILE,
  MEDIA_TYPE,
  notificationEnvelope,
  validatorOf,
  type DeploymentProfile,
  type NotificationEnvelope,
} from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { Inbox } from './inbox.ts'
import { incoming } from './notification.ts'
import type { NotificationKeys } from './notification-keys.ts'
import { readBody, type BodyLimits } from './read-body.ts'
import { answer, bodyRejected, refusedBy, Rejection } from './rejection.ts'

/** Handles a delivery with the platform's `Request` and `Response`. */
export type WebhookHandler = (request: Request) => Promise<Response>

export interface WebhookHandlerOptions {
  /** The organization of the events. Events of any other are refused. */
  readonly organizationId: string
  readonly keys: Pick<NotificationKeys, 'find'>
  readonly inbox: Pick<Inbox, 'store'>
  readonly now: () => Date
  readonly profile?: DeploymentProfile
  /**
   * The address that was registered at the exchange. The signature covers its host and path, so it is needed
   * where something in front of the agent rewrites either; otherwise the address of the request is taken.
   */
  readonly publicUrl?: string | (() => Promise<string | undefined>)
  readonly limits?: BodyLimits
  /** Defaults to O-49 of the profile. */
  readonly clockSkewSeconds?: number
  /** Why a delivery was not taken, for the agent's own eyes: its cause says which rule was broken. */
  readonly onRejected?: (error: ExchangeError, status: number) => void
  /** An event is in the inbox. */
  readonly onStored?: (event: NotificationEnvelope, outcome: 'new' | 'duplicate') => void
}

const validate = validatorOf(notificationEnvelope)

/**
 * EVT-14: the receiver's seven steps, in the specification's order. 204 means that the event is in the inbox,
 * now or before, and nothing else.
 *
 * @example
 * const handler = createWebhookHandler({ organizationId: 'org_cars', keys, inbox, now: () => new Date() })
 * const response = await handler(request)
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const { now, inbox, profile = DEFAULT_PROFILE, onRejected, onStored } = options
  const statuses = profile['O-12']
  if (typeof options.publicUrl === 'string') checkPublicUrl(options.publicUrl)

  async function take(request: Request): Promise<Response> {
    checkHead(request)
    // 1. Read exact bytes.
    const body = await readBody(request, options.limits)
    if (typeof body === 'string') throw bodyRejected(body)
    // 2, 3. Signature profile and time window, then Content-Digest.
    const verified = await verify(request, body)
    // 4. The notification's schema. 5. The ids of header and body, compared in `verify`.
    const event = readNotification(verified.event)
    // 6. Insert by unique event_id, durably.
    const outcome = await inbox.store(incoming(event), 'webhook', now().toISOString())
    if (outcome === 'conflict') throw conflict(event)
    quietly(() => onStored?.(event, outcome))
    // 7. The same answer for a new event and for an identical one.
    return new Response(null, { status: 204 })
  }

  async function verify(request: Request, body: Uint8Array): Promise<VerifiedWebhook> {
    const { method, headers, url } = request
    const { publicUrl, clockSkewSeconds = profile['O-49'].webhook_seconds } = options
    const address = (typeof publicUrl === 'function' ? await publicUrl() : publicUrl) ?? url
    const keys = (keyId: string) => options.keys.find(keyId)
    try {
      return await verifyWebhook(
        { method, url: address, headers, body },
        { keys, now: now(), clockSkewSeconds },
      )
    } catch (error) {
      // The schema comes before the ids: a body that is no notification has no id to differ.
      if (error instanceof CryptoError && error.code === 'webhook_event_id')
        readNotification(parseStrictJson(body))
      throw error
    }
  }

  function readNotification(value: JsonValue): NotificationEnvelope {
    if (!validate.accepts(value)) {
      const cause = new ExchangeError('notification_invalid', { failures: validate(value) })
      throw new Rejection(statuses.notification, { what: 'The body is not a notification.', cause })
    }
    if (value.organization_id !== options.organizationId) {
      throw new Rejection(statuses.notification, { what: 'The event is one of another organization.' })
    }
    return value
  }

  function conflict({ event_id, sequence }: NotificationEnvelope): Rejection {
    const cause = new ExchangeError('event_conflict', { details: { event_id, sequence } })
    return new Rejection(statuses.notification, { cause, what: 'The id or the sequence is taken.' })
  }

  /** What is not the delivery's fault (inbox, directory) is answered so that it comes again. */
  function asRejection(error: unknown): Rejection {
    if (error instanceof Rejection) return error
    if (error instanceof CryptoError) return refusedBy(error, statuses)
    return new Rejection(statuses.inbox, {
      what: 'The delivery cannot be verified or stored now; the exchange will retry.',
      cause: error,
    })
  }

  return async (request) => {
    try {
      return await take(request)
    } catch (error) {
      const rejection = asRejection(error)
      quietly(() => onRejected?.(rejection.error, rejection.status))
      return answer(rejection)
    }
  }
}

/** Checks that need no body. The signature rules cover a missing Content-Type. */
function checkHead({ method, headers }: Request): void {
  if (method !== 'POST')
    throw new Rejection(405, { what: 'A delivery is a POST.', headers: { allow: 'POST' } })
  const mediaType = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== undefined && mediaType !== MEDIA_TYPE.json) {
    throw new Rejection(415, { what: 'A delivery is application/json.' })
  }
}

/** Said at the start, because every delivery would fail later. */
export function checkPublicUrl(text: string): void {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return
  const what = 'publicUrl is the full https address that was registered at the exchange.'
  throw new ExchangeError('input_invalid', { what })
}

/** A listener's own failure does not change the answer. */
function quietly(tell: () => void): void {
  try {
    tell()
  } catch {
    // A failure of the listener is ignored.
  }
}
