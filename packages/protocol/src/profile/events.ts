import { PACKAGE_STATES } from '../schema/package-state.ts'
import { integer, oneOf, openPoint, someOf } from './open-point.ts'

const status = (fallback: number, when: string) => integer(fallback, 400, 599, `answer when ${when}`)

/** Open points about notifications, webhooks and alerts. */
export const eventPoints = {
  'O-10': openPoint({
    meaning: 'The complete list of event types, and which change emits which.',
    why: 'Three types are shown and are the default; package.<state> for other states is there for those who want it.',
    settings: {
      states: someOf(
        [...PACKAGE_STATES],
        ['accepted', 'delivered', 'received'],
        'states whose arrival emits package.<state>; accepted always does',
      ),
    },
  }),
  'O-12': openPoint({
    meaning: 'Statuses a webhook receiver returns when it rejects.',
    why: 'A 4xx ends a delivery for good, which is right for a request that will never verify; trouble of the receiver itself is a 5xx, so that it is tried again.',
    settings: {
      signature: status(401, 'the signature, its parameters or its key are not acceptable'),
      digest: status(400, 'the body does not match its digest'),
      notification: status(422, 'the body is not a notification, or its ids differ from the headers'),
      inbox: status(503, 'the event could not be stored'),
    },
  }),
  'O-19': openPoint({
    meaning: 'How the owner of an endpoint is alerted of a dead letter.',
    why: 'The alert is stored and logged in any case; mail goes out where a mail server is configured.',
    settings: {
      channels: someOf(['log', 'mail'], ['log', 'mail'], 'where an alert goes beside the stored list'),
    },
  }),
  'O-25': openPoint({
    meaning: 'Who is told of an event.',
    why: 'Both parties have to know what became of a package; one notification where they are one organization.',
    settings: {
      parties: someOf(['sender', 'recipient'], ['sender', 'recipient'], 'whose streams get the event', 1),
    },
  }),
  'O-33': openPoint({
    meaning:
      'Redirects, TLS failures and blocked addresses as results of a delivery, and which addresses are taken.',
    why: 'An address of an endpoint has no fragment, which means nothing to a server. A redirect would move a signed request to an address nobody registered, and a blocked address stays blocked; certificates are renewed, so TLS failures are tried again.',
    settings: {
      redirect: oneOf(['permanent', 'retry'], 'permanent', 'a 3xx answer'),
      tls_failure: oneOf(['permanent', 'retry'], 'retry', 'a handshake or certificate that fails'),
      blocked_address: oneOf(
        ['permanent', 'retry'],
        'permanent',
        'an address that is not global unicast; one that the registration of an endpoint names itself is refused there',
      ),
    },
  }),
  'O-44': openPoint({
    meaning: 'A delivery attempt whose worker died before it recorded the result. Found by us.',
    why: 'The receiver may have got it, so it counts, and the next attempt keeps the distance of the ladder. What was claimed and not begun is no attempt and starts at once elsewhere.',
    settings: {
      lost_attempt: oneOf(
        ['backoff', 'at_once'],
        'backoff',
        'when the attempt after a lost one starts: after the usual delay, or as soon as the loss is noticed',
      ),
    },
  }),
  'O-45': openPoint({
    meaning: 'Endpoints that have never answered with 2xx. Found by us.',
    why: 'Whoever registers an address need not own it: until it has answered once, the exchange must not be of use to flood it. Counted over all workers.',
    settings: {
      requests_at_once: integer(1, 1, 16, 'requests under way to such an endpoint'),
      seconds_between: integer(1, 0, 3_600, 'time between the starts of two requests to such an endpoint'),
    },
  }),
}
