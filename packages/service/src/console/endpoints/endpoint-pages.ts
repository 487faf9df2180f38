import { get, post, type ConsolePage } from '../console-page.ts'
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  replayLastFailed,
  replayMissedOf,
} from './endpoint-actions.ts'
import { showEndpoints } from './endpoint-list.ts'
import { showEndpoint } from './endpoint-page.ts'

const ENDPOINT = '/endpoints/:webhook_endpoint_id'

export const endpointsPages: readonly ConsolePage[] = [
  get('/endpoints', showEndpoints),
  get(ENDPOINT, showEndpoint),
  post(`${ENDPOINT}/enable`, enableEndpoint),
  post(`${ENDPOINT}/disable`, disableEndpoint),
  post(`${ENDPOINT}/delete`, deleteEndpoint),
  post(`${ENDPOINT}/replay-missed`, replayMissedOf),
  post(`${ENDPOINT}/replay-last-failed`, replayLastFailed),
]
