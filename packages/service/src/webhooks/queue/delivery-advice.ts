import type { ErrorClass } from '../worker/classify-attempt.ts'
import type { DeliveryState } from './delivery-queries.ts'
import type { EndpointStatus } from '../endpoints/endpoint-queries.ts'

/** What the advice on a delivery depends on. */
export interface DeliverySituation {
  readonly state: DeliveryState
  readonly isReplayed: boolean
  readonly endpointStatus: EndpointStatus | undefined
  /** Result of the last attempt. */
  readonly status?: number | undefined
  readonly errorClass?: ErrorClass | undefined
}

const ERROR_ADVICE: Readonly<Record<ErrorClass, string>> = {
  dns: 'The name of the endpoint cannot be resolved. Its owner corrects DNS or registers another URL.',
  refused: 'Nothing listens at the address of the endpoint. Its owner starts the receiver.',
  unreachable:
    'No route leads to the address of the endpoint. Check the network of the exchange, then of the receiver.',
  reset: 'The receiver closed the connection before it answered. Its owner checks its proxy and its log.',
  timeout:
    'The receiver did not answer in time. It must store the event and answer before it processes anything.',
  tls: 'The certificate of the receiver was not accepted. Its owner renews it, or AEX_WEBHOOK_CA names its authority.',
  protocol:
    'The answer of the receiver is not HTTP that can be read. Its owner checks what listens at the URL.',
  blocked_address:
    'The name of the endpoint resolves to an address that webhooks must not reach, such as a private one.',
  lost: 'The worker ended before it could record the result. The delivery is repeated without action.',
  interrupted: 'The worker was stopped during the attempt. The delivery is repeated without action.',
}

/** What an operator does about a delivery, in one or two sentences. */
export function adviseOnDelivery(situation: DeliverySituation): string {
  const { state, isReplayed, endpointStatus } = situation
  if (state === 'delivered') return 'Nothing to do: the receiver has it.'
  if (endpointStatus === 'deleted')
    return 'The endpoint was deleted. Its organization registers another one, and reads the event from its stream.'
  if (endpointStatus === 'disabled')
    return 'The endpoint is disabled, so nothing is sent. Enable it when the receiver works; that can replay what it missed.'
  const cause = causeOf(situation)
  if (state === 'pending') return `${cause ?? 'It waits for its turn.'} It is sent again without action.`
  if (isReplayed) return 'It was replayed: see the replay for the latest result.'
  return `${cause ?? ''} When the receiver works again, replay the delivery.`.trimStart()
}

function causeOf({ status, errorClass }: DeliverySituation): string | undefined {
  if (errorClass !== undefined) return ERROR_ADVICE[errorClass]
  if (status === undefined) return undefined
  if (status === 401 || status === 403)
    return `The receiver refused the request (${status}). Compare the signature base below with what it computes.`
  if (status === 404 || status === 410)
    return `The receiver does not know the path of the URL (${status}). Its owner corrects the route or registers another URL.`
  if (status === 429 || status === 503) return `The receiver is overloaded (${status}).`
  if (status >= 500)
    return `The receiver failed (${status}). Its owner finds the cause in its log by the event id.`
  if (status >= 300 && status < 400)
    return `The receiver redirects (${status}), and webhooks follow no redirect. Its owner registers the final URL.`
  return `The receiver refused the event (${status}). Its owner finds the cause in its log by the event id.`
}
