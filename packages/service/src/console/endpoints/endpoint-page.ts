import {
  buttonLink,
  definitionList,
  exactTime,
  html,
  identifier,
  linePlot,
  notice,
  visible,
  type Html,
  type Part,
} from '@agent-exchange/web'
import { showEndpointRoute } from '../../operator/routes/endpoints.ts'
import type { ConsoleCall, PageAnswer } from '../console-page.ts'
import { nameOf, namesOf, organizationLink, type Names } from '../organization-names.ts'
import { addressOf } from '../paging.ts'
import { endpointBadge, endpointState } from '../state-badges.ts'
import { endpointActions, type ShownEndpoint } from './endpoint-actions.ts'

export async function showEndpoint(call: ConsoleCall): Promise<PageAnswer> {
  const endpoint = await call.api(showEndpointRoute, { params: call.params })
  const { webhook_endpoint_id: id, history } = endpoint
  const names = await namesOf(call.api, [endpoint.organization_id])
  return call.show({
    title: `Webhook endpoint of ${visible(nameOf(names, endpoint.organization_id))}`,
    main: html`${stateNotice(endpoint)} ${definitionList(factsOf(endpoint, names))}
      <p>
        ${buttonLink(addressOf('/deliveries', { webhook_endpoint_id: id }), 'Deliveries to this endpoint')}
      </p>
      <h2>The last 24 hours</h2>
      <p>${successText(history)}</p>
      ${successCurve(history)} ${endpointActions(call, endpoint)}`,
  })
}

function stateNotice(endpoint: ShownEndpoint): Html | undefined {
  const { status, status_reason, missed, failing_since, last_error } = endpoint
  if (status === 'active' && failing_since === null) return undefined
  if (status === 'active')
    return notice({
      tone: 'warn',
      title: `Failing: ${visible(last_error ?? 'no result recorded')}`,
      text: html`No attempt has succeeded since ${exactTime(new Date(failing_since ?? ''))}. Its deliveries
      say what to do.`,
    })
  const lost = missed.notifications + missed.deliveries
  return notice({
    tone: status === 'disabled' ? 'bad' : 'info',
    title: `${status === 'disabled' ? 'Disabled' : 'Deleted'}: ${visible(status_reason ?? 'no reason recorded')}`,
    text:
      status === 'disabled'
        ? `Nothing is sent. It has missed ${lost.toLocaleString('en')} so far; they can be replayed once it is enabled.`
        : 'Its deliveries stay readable. Its organization can register another one.',
  })
}

function factsOf(endpoint: ShownEndpoint, names: Names): (readonly [string, Part])[] {
  const { organization_id: owner, event_types: types, history } = endpoint
  const oldest = history.oldest_pending_at
  return [
    ['Status', endpointBadge(endpointState(endpoint.status, endpoint.failing_since))],
    ['Organization', organizationLink(names, owner)],
    ['URL', html`<bdi>${visible(endpoint.url)}</bdi>`],
    ['Events', types.length === 0 ? 'all' : visible(types.join(', '))],
    ['Registered', exactTime(new Date(endpoint.created_at))],
    ['Last change', exactTime(new Date(endpoint.updated_at))],
    [
      'Pending',
      html`${countText(history.pending, history.maximum_count)}${oldest !== null && html`, the oldest since ${exactTime(new Date(oldest))}`}`,
    ],
    ['Signing key', identifier(endpoint.signing_key_id)],
    ['Id', identifier(endpoint.webhook_endpoint_id)],
  ]
}

type History = ShownEndpoint['history']

function countText(count: number, maximum: number): string {
  return count >= maximum ? `${maximum.toLocaleString('en')} or more` : count.toLocaleString('en')
}

function successText({ intervals }: History): string {
  const delivered = intervals.reduce((sum, each) => sum + each.delivered, 0)
  const lost = intervals.reduce((sum, { failed, dead }) => sum + failed + dead, 0)
  if (delivered + lost === 0) return 'No delivery ended in this time.'
  const share = ((100 * delivered) / (delivered + lost)).toFixed(delivered * lost === 0 ? 0 : 1)
  return `${share} % of the deliveries that ended arrived: ${delivered.toLocaleString('en')} arrived, ${lost.toLocaleString('en')} failed.`
}

function successCurve({ intervals, maximum_count }: History): Html {
  return linePlot({
    title: 'Deliveries by result',
    unit: `created per hour, at most ${maximum_count.toLocaleString('en')} counted`,
    labels: intervals.map(({ from }) => from.slice(11, 16)),
    labelTitle: 'Hour from (UTC)',
    series: [
      { name: 'arrived', values: intervals.map(({ delivered }) => delivered) },
      { name: 'failed or dead', values: intervals.map(({ failed, dead }) => failed + dead) },
      { name: 'arrived after retries', values: intervals.map(({ retried }) => retried) },
    ],
  })
}
