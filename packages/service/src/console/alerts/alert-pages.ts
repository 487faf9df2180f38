import { filterForm, html, shortIdentifier, table } from '@agent-exchange/web'
import { readAlerts } from '../../operator/routes/alerts.ts'
import { get, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { outsideText, statusBadge } from '../console-parts.ts'
import { deliveryPath, endpointPath } from '../links.ts'
import { namesOf, organizationLink } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { timeOf } from '../time.ts'

const KINDS = [
  { value: '', label: 'all' },
  { value: 'delivery_dead', label: 'dead letter' },
  { value: 'delivery_failed', label: 'delivery failed permanently' },
  { value: 'endpoint_disabled', label: 'endpoint disabled' },
  { value: 'endpoint_failing', label: 'endpoint fails' },
  { value: 'log_behind', label: 'transparency log late' },
  { value: 'log_refusing', label: 'transparency log refuses' },
  { value: 'log_unwitnessed', label: 'no witness cosigns' },
  { value: 'log_damaged', label: 'the log is damaged' },
  { value: 'certificate_expiring', label: 'certificate expires' },
  { value: 'key_expiring', label: 'key expires' },
]

export const alertsPages: readonly ConsolePage[] = [get('/alerts', list)]

async function list({ api, query, show, now }: ConsoleCall) {
  const after = query.get('after')
  const [organization_id, webhook_endpoint_id, kind] = [
    query.get('organization_id'),
    query.get('webhook_endpoint_id'),
    query.get('kind'),
  ]
  const filters = { organization_id, webhook_endpoint_id, kind }
  const { items, next_cursor } = await api(readAlerts, { input: { ...filters, after } })
  const names = await namesOf(
    api,
    items.map((alert) => alert.organization_id),
  )
  const main = html`<p class="lead">
      Deliveries that failed for good, endpoints that fail or were disabled, certificates and keys that
      expire, and trouble of the transparency log. Each alert is also sent by mail where an address is known.
    </p>
    ${filterForm({
      id: 'filter',
      action: '/alerts',
      fields: [
        { kind: 'search', name: 'organization_id', label: 'Organization', value: organization_id ?? '' },
        { kind: 'search', name: 'webhook_endpoint_id', label: 'Endpoint', value: webhook_endpoint_id ?? '' },
        { kind: 'select', name: 'kind', label: 'Kind', value: kind ?? '', options: KINDS },
      ],
      submitLabel: 'Filter',
    })}
    ${table({
      caption: 'Alerts',
      hidesCaption: true,
      columns: [
        { title: 'What' },
        { title: 'Organization' },
        { title: 'Reason' },
        { title: 'Raised' },
        { title: 'Mail' },
        { title: 'Endpoint and delivery' },
      ],
      rows: items.map((alert) => [
        KINDS.find(({ value }) => value === alert.kind)?.label ?? alert.kind,
        organizationLink(names, alert.organization_id),
        outsideText(alert.reason),
        timeOf(alert.raised_at, now),
        html`${statusBadge(alert.mail_state)} ${alert.mail_error && outsideText(alert.mail_error)}`,
        alert.webhook_endpoint_id &&
          html`${shortIdentifier(alert.webhook_endpoint_id, endpointPath(alert.webhook_endpoint_id))}
          ${
            alert.delivery_id &&
            html`<span class="below"
              >${shortIdentifier(alert.delivery_id, deliveryPath(alert.delivery_id))}</span
            >`
          }`,
      ]),
      empty: {
        title: 'No alerts',
        text: 'No delivery was given up, and no endpoint has failed for more than a minute.',
      },
      paging: pagingLinks('/alerts', filters, { after, next: next_cursor }),
    })}`
  return show({ title: 'Alerts', main })
}
