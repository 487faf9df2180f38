import {
  definitionList,
  exactTime,
  form,
  html,
  identifier,
  named,
  notice,
  shortIdentifier,
  table,
  visible,
  type Html,
  type Part,
  type Tone,
} from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import { replayDeliveryRoute, showDeliveryRoute } from '../../operator/routes/deliveries.ts'
import type { ConsoleCall, PageAnswer, WatchCall } from '../console-page.ts'
import { reasonField } from '../form-fields.ts'
import { deliveryPath, endpointPath, organizationPath, packagePath } from '../links.ts'
import { nameOf, namesOf, organizationLink, type Names } from '../organization-names.ts'
import { deliveryBadge, endpointBadge, shownState } from '../state-badges.ts'

type Delivery = Awaited<ReturnType<typeof showDeliveryRoute.run>>
type Attempt = Delivery['attempts'][number]

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  pending: 'info',
  retrying: 'warn',
  failed: 'bad',
  dead: 'bad',
}

export function watchDelivery({ api, params }: WatchCall): Promise<Delivery> {
  return api(showDeliveryRoute, { params })
}

/** The flight recorder: what was tried, what came back, and what to do. */
export async function showDelivery(call: ConsoleCall): Promise<PageAnswer> {
  const delivery = await watchDelivery(call)
  const { attempts, replays, endpoint } = delivery
  const names = await namesOf(call.api, [delivery.organization_id])
  const content = html`${notice({ tone: TONES[stateOf(delivery)] ?? 'info', title: headlineOf(delivery), text: delivery.what_to_do })}
    ${replayForm(call, delivery)} ${definitionList(factsOf(delivery, names))}
    <h2>Attempts</h2>
    ${attemptTable(attempts)} ${attempts.map(evidenceOf)} ${replays.length > 0 && replayTable(replays)}
    ${endpoint.url === undefined && html`<p class="quiet">The endpoint is not stored any more.</p>`}
    <h2>Ids</h2>
    ${definitionList(idsOf(delivery))}`
  const title = `Delivery to ${visible(nameOf(names, delivery.organization_id))}`
  return call.show({ title, main: call.live(delivery, content) })
}

export async function replayDelivery({
  params,
  form: given,
  api,
  redirect,
}: ConsoleCall): Promise<PageAnswer> {
  const replay = await api(replayDeliveryRoute, { params, input: { reason: given.get('reason') } })
  return redirect(deliveryPath(replay.delivery_id), {
    tone: 'good',
    title: 'Replayed.',
    text: 'This is the new delivery of the same event. Its result appears below; without JavaScript, reload the page.',
  })
}

function stateOf({ state, attempts }: Delivery): string {
  return shownState(state, attempts.length > 0)
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

function headlineOf({ state, attempt, attempts }: Delivery): string {
  const last = attempts.at(-1)
  const result = last && last.outcome !== 'delivered' ? `; the last result: ${resultOf(last)}` : ''
  if (state === 'delivered') return `Delivered by attempt ${attempt}.`
  if (state === 'pending' && last)
    return `Retrying after ${counted(attempts.length, 'failed attempt')}${result}.`
  if (state === 'pending') return 'Pending: no attempt has ended yet.'
  return `${state === 'dead' ? 'Dead letter' : 'Failed for good'} after ${counted(attempt, 'attempt')}${result}.`
}

function resultOf({ outcome, details: { status, error_class } }: Attempt): string {
  return status === undefined ? (error_class ?? outcome) : `status ${status}`
}

function replayForm({ operator, formState }: ConsoleCall, delivery: Delivery): Html | undefined {
  const hasFailed = delivery.state === 'failed' || delivery.state === 'dead'
  // A replay that failed again has its own page.
  if (
    !hasFailed ||
    delivery.replays.length > 0 ||
    delivery.endpoint.status !== 'active' ||
    !hasRole(operator, 'operator')
  )
    return undefined
  return form({
    id: 'replay',
    action: `${deliveryPath(delivery.delivery_id)}/replay`,
    ...formState,
    fields: [reasonField],
    submit: { label: 'Replay this delivery' },
  })
}

function time(at: string | undefined): Part {
  return at === undefined ? '–' : exactTime(new Date(at))
}

function factsOf(delivery: Delivery, names: Names): (readonly [string, Part])[] {
  const { endpoint, organization_id: owner, webhook_endpoint_id: endpointId, replay_of: original } = delivery
  return [
    ['Event', visible(delivery.event_type ?? 'no longer kept')],
    ['Package', shortIdentifier(delivery.package_id, packagePath(delivery.package_id))],
    ['To', organizationLink(names, owner)],
    [
      'Endpoint',
      html`${named({ name: endpoint.url ?? endpointId, id: endpointId, href: endpointPath(endpointId) })}
      ${endpoint.status && endpointBadge(endpoint.status)}`,
    ],
    ['State', deliveryBadge(stateOf(delivery))],
    ['Created', time(delivery.created_at)],
    ...(delivery.next_attempt_at === undefined
      ? []
      : ([['Next attempt', time(delivery.next_attempt_at)]] as const)),
    ['Finished', time(delivery.finished_at)],
    ...(original === undefined
      ? []
      : ([
          ['Replay of', shortIdentifier(original, deliveryPath(original))],
          ['Replayed by', visible(delivery.replay_actor ?? '')],
          ['Reason', visible(delivery.replay_reason ?? '')],
        ] as const)),
  ]
}

function idsOf(delivery: Delivery): (readonly [string, Part])[] {
  const { delivery_id, event_id, notification_id, package_id, webhook_endpoint_id, organization_id } =
    delivery
  return [
    ['Delivery', identifier(delivery_id)],
    ['Event', identifier(event_id)],
    ['Notification', identifier(notification_id)],
    ['Package', identifier(package_id, packagePath(package_id))],
    ['Endpoint', identifier(webhook_endpoint_id, endpointPath(webhook_endpoint_id))],
    ['Organization', identifier(organization_id, organizationPath(organization_id))],
  ]
}

function attemptTable(attempts: readonly Attempt[]): Html {
  return table({
    caption: 'Attempts',
    hidesCaption: true,
    columns: [
      { title: 'Attempt' },
      { title: 'Result' },
      { title: 'Duration', isNumeric: true },
      { title: 'Address' },
      { title: 'Next attempt' },
    ],
    rows: attempts.map((each) => [
      html`${each.attempt}: ${exactTime(new Date(each.started_at))}`,
      html`${deliveryBadgeOf(each.outcome)} ${resultOf(each)}`,
      each.details.duration_ms === undefined ? '–' : `${Math.round(each.details.duration_ms)} ms`,
      visible(each.details.address ?? '–'),
      time(each.details.next_attempt_at),
    ]),
    empty: { title: 'No attempt yet', text: 'A worker sends it when it is due.' },
  })
}

function deliveryBadgeOf(outcome: string): Html {
  return deliveryBadge(outcome === 'retry' ? 'retrying' : outcome === 'endpoint_gone' ? 'failed' : outcome)
}

/** The rest of an attempt: its connection, its error, and the signature base to compare with the receiver's. */
function evidenceOf({ attempt, details }: Attempt): Html {
  const { error, signature_base, tls_version, key_id } = details
  const facts: (readonly [string, Part])[] = [
    ...(error === undefined ? [] : [['Error', html`<code>${visible(error)}</code>`] as const]),
    ['TLS', tls_version ?? '–'],
    ['Signing key', key_id === undefined ? '–' : identifier(key_id)],
  ]
  return html`<details>
    <summary>
      Attempt ${attempt}:
      ${error !== undefined && 'error, '}connection${signature_base !== undefined && ', signature base'}
    </summary>
    ${definitionList(facts)}
    ${
      signature_base !== undefined &&
      html`<p class="quiet">The receiver must compute the same signature base, byte for byte:</p>
        <pre tabindex="0" role="region" aria-label="Signature base of attempt ${attempt}">
${signature_base}</pre>`
    }
  </details>`
}

function replayTable(replays: Delivery['replays']): Html {
  return html`<h2>Replays</h2>
    ${table({
      caption: 'Replays',
      hidesCaption: true,
      columns: [
        { title: 'Delivery' },
        { title: 'State' },
        { title: 'Created' },
        { title: 'Operator' },
        { title: 'Reason' },
      ],
      rows: replays.map((replay) => [
        shortIdentifier(replay.delivery_id, deliveryPath(replay.delivery_id)),
        deliveryBadge(replay.state),
        exactTime(new Date(replay.created_at)),
        visible(replay.replay_actor ?? ''),
        visible(replay.replay_reason ?? ''),
      ]),
    })}`
}
