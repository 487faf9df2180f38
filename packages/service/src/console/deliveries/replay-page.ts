import {
  filterForm,
  form,
  html,
  notice,
  shortIdentifier,
  table,
  type Field,
  type Html,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { countReplaysRoute, replayManyRoute } from '../../operator/routes/deliveries.ts'
import type { ConsoleCall, PageAnswer } from '../console-page.ts'
import type { Fields } from '../fields.ts'
import { choiceField, idField, reasonField } from '../form-fields.ts'
import { endpointPath } from '../links.ts'
import { namesOf, organizationLink, type Names } from '../organization-names.ts'
import { addressOf } from '../paging.ts'
import { periodField, sinceOf } from '../period-filter.ts'
import { endpointBadge } from '../state-badges.ts'

type Preview = Awaited<ReturnType<typeof countReplaysRoute.run>>

/** Batches that one click runs; the page then shows what is left. A batch has at most 500 replays. */
const MAXIMUM_BATCHES = 20

/** Many deliveries at once: filter, count, confirm with a reason. */
export async function showReplay(call: ConsoleCall): Promise<PageAnswer> {
  const { query, api, show, now } = call
  // Deliveries that fail after the count are not part of what is confirmed.
  const filter = { ...filterOf(query), since: sinceOf(call), until: query.get('until') ?? now.toISOString() }
  const preview = await api(countReplaysRoute, { input: filter })
  const names = await namesOf(
    api,
    preview.endpoints.map(({ organization_id }) => organization_id),
  )
  const filters = filterForm({
    id: 'filter',
    action: '/replay',
    fields: [
      choiceField({ name: 'state', label: 'State', any: 'failed or dead' }, ['failed', 'dead'], filter.state),
      periodField(call),
      idField('organization_id', 'Organization id', filter.organization_id),
      idField('webhook_endpoint_id', 'Endpoint id', filter.webhook_endpoint_id),
    ],
    submitLabel: 'Count',
  })
  return show({
    title: 'Replay failed deliveries',
    main: html`<p>
        A replay sends the same event again, byte for byte, as a new delivery. Only the last failed delivery
        of each notification counts, and none that has arrived since.
      </p>
      ${filters} ${consequence(call, preview)} ${previewTable(preview, names)}
      ${confirmForm(call, preview, filter)}`,
  })
}

interface Filter {
  readonly organization_id: string | undefined
  readonly webhook_endpoint_id: string | undefined
  readonly state: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
}

function filterOf(fields: Fields): Omit<Filter, 'since' | 'until'> {
  return {
    organization_id: fields.get('organization_id'),
    webhook_endpoint_id: fields.get('webhook_endpoint_id'),
    state: fields.get('state'),
  }
}

function previewTable({ endpoints }: Preview, names: Names): Html {
  return table({
    caption: 'What would be replayed, by endpoint',
    columns: [
      { title: 'Organization' },
      { title: 'Endpoint' },
      { title: 'Status' },
      { title: 'Deliveries', isNumeric: true },
    ],
    rows: endpoints.map(({ webhook_endpoint_id: id, organization_id: owner, status, count }) => [
      organizationLink(names, owner),
      shortIdentifier(id, endpointPath(id)),
      endpointBadge(status),
      count.toLocaleString('en'),
    ]),
    empty: {
      title: 'There is nothing to replay',
      text: html`No failed delivery matches. <a href="/deliveries?state=failed">Failed</a> and
        <a href="/deliveries?state=dead">dead</a> deliveries are listed with their causes.`,
    },
  })
}

/** What a replay would do, before it does. */
function consequence({ operator }: ConsoleCall, preview: Preview): Html {
  const ready = replayable(preview)
  const rest = preview.count - ready
  const would = notice({
    tone: 'info',
    title: `Nothing has been replayed yet. ${countText(preview)} ${ready === 1 ? 'delivery' : 'deliveries'} would be.`,
    text: 'The receivers get these events again. A receiver that has stored an event drops the duplicate.',
  })
  const cannot = notice({
    tone: 'warn',
    title: `${rest.toLocaleString('en')} cannot be replayed.`,
    text: 'Their endpoints are disabled or deleted. Enable an endpoint first; its page can replay what it missed.',
  })
  return html`${rest > 0 && cannot}${ready > 0 && hasRole(operator, 'operator') && would}`
}

function confirmForm(
  { operator, formState }: ConsoleCall,
  preview: Preview,
  filter: Filter,
): Html | undefined {
  if (replayable(preview) === 0 || !hasRole(operator, 'operator')) return undefined
  const hidden = Object.entries(filter).flatMap(([name, value]): Field[] =>
    value === undefined ? [] : [{ kind: 'hidden', name, value }],
  )
  return html`<h2>Replay them</h2>
    ${form({
      id: 'replay',
      action: '/replay',
      ...formState,
      fields: [...hidden, reasonField],
      submit: { label: `Replay ${countText(preview)}` },
      cancel: { href: '/deliveries', label: 'Cancel' },
    })}`
}

function countText(preview: Preview): string {
  return `${replayable(preview).toLocaleString('en')}${preview.more ? ' or more' : ''}`
}

function replayable({ endpoints }: Preview): number {
  return endpoints.filter(({ status }) => status === 'active').reduce((sum, { count }) => sum + count, 0)
}

export async function replayMany({ form: given, api, redirect }: ConsoleCall): Promise<PageAnswer> {
  const filter: Filter = { ...filterOf(given), since: given.get('since'), until: given.get('until') }
  const preview = await api(countReplaysRoute, { input: filter })
  const reason = given.get('reason')
  let replayed = 0
  let batches = 0
  for (const { webhook_endpoint_id, status } of preview.endpoints) {
    if (status !== 'active') continue
    for (let size = Infinity; size > 0 && batches < MAXIMUM_BATCHES; batches++) {
      const batch = await api(replayManyRoute, { input: { ...filter, webhook_endpoint_id, reason } })
      size = batch.replayed
      replayed += size
    }
  }
  const isDone = batches < MAXIMUM_BATCHES
  const path = isDone
    ? addressOf('/deliveries', {
        organization_id: filter.organization_id,
        webhook_endpoint_id: filter.webhook_endpoint_id,
      })
    : addressOf('/replay', { ...filter })
  return redirect(path, {
    tone: 'good',
    title: `${replayed.toLocaleString('en')} replayed.`,
    text: isDone ? 'They are new deliveries, listed first.' : 'There are more: count again and continue.',
  })
}
