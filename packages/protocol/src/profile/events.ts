import { PACKAGE_STATES } from '../schema/package-state.ts'
import { fixed, integer, oneOf, openPoint, someOf } from './open-point.ts'

const status = (fallback: number, when: string) => integer(fallback, 400, 599, `response status if ${when}`)

/** Open points about notifications, webhooks and alerts. */
export const eventPoints = {
  'O-10': openPoint({
    meaning:
      'The complete list of event types, which change emits which event, and what an empty filter means.',
    why: 'The specification shows three types, which are the default. package.<state> is available for the other states.',
    settings: {
      states: someOf(
        [...PACKAGE_STATES],
        ['accepted', 'delivered', 'received'],
        'states that emit package.<state> when a package reaches them; accepted always does',
      ),
      empty_event_types: fixed('all', 'an endpoint whose event_types is an empty list gets every event type'),
    },
  }),
  'O-12': openPoint({
    meaning: 'Response statuses of a webhook receiver that rejects a delivery.',
    why: 'A 4xx ends a delivery permanently, which is right for a request that can never be verified. A failure of the receiver is a 5xx, so that the delivery is retried.',
    settings: {
      signature: status(401, 'the signature, its parameters or its key are not accepted'),
      digest: status(400, 'the body does not match its digest'),
      notification: status(422, 'the body is not a notification, or its ids differ from the headers'),
      inbox: status(503, 'the event could not be stored'),
    },
  }),
  'O-19': openPoint({
    meaning: 'How the owner of an endpoint is alerted about a dead letter.',
    why: 'The alert is always stored. Mail needs a configured mail server.',
    settings: {
      channels: someOf(
        ['log', 'mail'],
        ['log', 'mail'],
        'channels for alerts, in addition to the stored list',
      ),
    },
  }),
  'O-25': openPoint({
    meaning: 'Who is notified of an event.',
    why: 'Both parties need to know the state of a package. If they belong to the same organization, it gets one notification.',
    settings: {
      parties: someOf(
        ['sender', 'recipient'],
        ['sender', 'recipient'],
        'parties whose streams get the event',
        1,
      ),
    },
  }),
  'O-33': openPoint({
    meaning:
      'Redirects, TLS failures and blocked addresses as results of a delivery, and which addresses are accepted.',
    why: 'The URL of an endpoint has no fragment, which has no meaning for a server. A redirect would send a signed request to an address that nobody registered. A blocked address is likely to stay blocked. Certificates are renewed, so TLS failures are retried.',
    settings: {
      redirect: oneOf(['permanent', 'retry'], 'permanent', 'a 3xx response'),
      tls_failure: oneOf(['permanent', 'retry'], 'retry', 'a failed handshake or an invalid certificate'),
      blocked_address: oneOf(
        ['permanent', 'retry'],
        'permanent',
        'an address that is not global unicast; a registration whose URL contains such an address is refused',
      ),
    },
  }),
  'O-44': openPoint({
    meaning:
      'Delivery attempts whose worker died before it recorded the result. Not in the specification’s list of open points.',
    why: 'The receiver may have received the request, so the attempt counts, and the next one waits for the usual backoff. A claim that was not started is no attempt and is started by another worker immediately.',
    settings: {
      lost_attempt: oneOf(
        ['backoff', 'at_once'],
        'backoff',
        'when the attempt after a lost one starts: after the usual backoff, or as soon as the loss is detected',
      ),
    },
  }),
  'O-45': openPoint({
    meaning: 'Endpoints that have never responded with 2xx. Not in the specification’s list of open points.',
    why: 'The organization that registers an address may not own it. Until the endpoint has responded with 2xx once, the exchange must not be usable to flood it. Limits apply to all workers together.',
    settings: {
      requests_at_once: integer(1, 1, 16, 'concurrent requests to such an endpoint'),
      seconds_between: integer(
        1,
        0,
        3_600,
        'minimum time between the starts of two requests to such an endpoint',
      ),
    },
  }),
}
