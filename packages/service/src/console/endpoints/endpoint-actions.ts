import { confirmation, form, html, type Field, type Html } from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  deleteEndpointRoute,
  disableEndpointRoute,
  enableEndpointRoute,
  replayLastFailedRoute,
  replayMissedRoute,
  type showEndpointRoute,
} from '../../operator/routes/endpoints.ts'
import type { ConsoleCall, PageAnswer } from '../console-page.ts'
import { reasonField } from '../form-fields.ts'
import { deliveryPath, endpointPath } from '../links.ts'

export type ShownEndpoint = Awaited<ReturnType<typeof showEndpointRoute.run>>

/** Batches that one click runs; a batch has at most 500 replays. */
const MAXIMUM_BATCHES = 20

/** Forms that fit the status of the endpoint. */
export function endpointActions(
  { operator, formState }: ConsoleCall,
  { webhook_endpoint_id: id, status, missed, last_failed_delivery_id: last }: ShownEndpoint,
): Html | undefined {
  if (status === 'deleted' || !hasRole(operator, 'operator')) return undefined
  const path = endpointPath(id)
  const count = missed.notifications + missed.deliveries
  const simple = (name: string, label: string, ...fields: Field[]) =>
    form({
      id: name,
      action: `${path}/${name}`,
      ...formState,
      fields: [...fields, reasonField],
      submit: { label },
    })
  const replayLast =
    status === 'active' && last !== null && simple('replay-last-failed', 'Replay its last failed delivery')
  const replayMissed =
    status === 'active' &&
    count > 0 &&
    simple('replay-missed', `Replay the ${count.toLocaleString('en')} that it missed`)
  const enable =
    status === 'disabled' &&
    simple('enable', 'Enable', {
      kind: 'checkbox',
      name: 'replay',
      label: `Replay what it missed (${count.toLocaleString('en')})`,
      isChecked: true,
      isRequired: false,
    })
  const disable =
    status === 'active' &&
    confirmation({
      summary: 'Disable…',
      explanation:
        'Nothing is sent to it any more, and its owner is alerted. Notifications stay in the stream, and what it misses can be replayed later.',
      form: {
        id: 'disable',
        action: `${path}/disable`,
        ...formState,
        fields: [reasonField],
        submit: { label: 'Disable the endpoint' },
      },
    })
  return html`<h2>Actions</h2>
    ${replayLast} ${replayMissed} ${enable}
    <p class="actions">${disable}</p>
    ${confirmation({
      summary: 'Delete…',
      explanation:
        'Pending deliveries end unsent, and the endpoint cannot come back: its organization has to register another one. Its history stays readable.',
      form: {
        id: 'delete',
        action: `${path}/delete`,
        ...formState,
        fields: [reasonField],
        submit: { label: 'Delete the endpoint' },
      },
    })}`
}

const idOf = ({ params }: ConsoleCall) => params['webhook_endpoint_id'] ?? ''

export async function enableEndpoint(call: ConsoleCall): Promise<PageAnswer> {
  const { params, form: given, api, redirect } = call
  const input = { reason: given.get('reason') }
  await api(enableEndpointRoute, { params, input })
  const replayed = given.get('replay') === undefined ? undefined : await replayAllMissed(call)
  return redirect(endpointPath(idOf(call)), {
    tone: 'good',
    title: 'Enabled.',
    ...(replayed !== undefined && { text: `${replayed.toLocaleString('en')} replayed.` }),
  })
}

export async function disableEndpoint(call: ConsoleCall): Promise<PageAnswer> {
  const { params, form: given, api, redirect } = call
  await api(disableEndpointRoute, { params, input: { reason: given.get('reason') } })
  return redirect(endpointPath(idOf(call)), { tone: 'good', title: 'Disabled.' })
}

export async function deleteEndpoint(call: ConsoleCall): Promise<PageAnswer> {
  const { params, form: given, api, redirect } = call
  await api(deleteEndpointRoute, { params, input: { reason: given.get('reason') } })
  return redirect(endpointPath(idOf(call)), { tone: 'good', title: 'Deleted.' })
}

export async function replayMissedOf(call: ConsoleCall): Promise<PageAnswer> {
  const replayed = await replayAllMissed(call)
  return call.redirect(endpointPath(idOf(call)), {
    tone: 'good',
    title: `${replayed.toLocaleString('en')} replayed.`,
  })
}

export async function replayLastFailed({
  params,
  form: given,
  api,
  redirect,
}: ConsoleCall): Promise<PageAnswer> {
  const replay = await api(replayLastFailedRoute, { params, input: { reason: given.get('reason') } })
  return redirect(deliveryPath(replay.delivery_id), {
    tone: 'good',
    title: 'Replayed.',
    text: 'This is the new delivery of the same event. Load the page again to see its result.',
  })
}

async function replayAllMissed({ params, form: given, api }: ConsoleCall): Promise<number> {
  const input = { reason: given.get('reason') }
  let replayed = 0
  for (let batches = 0; batches < MAXIMUM_BATCHES; batches++) {
    const batch = await api(replayMissedRoute, { params, input })
    if (batch.replayed === 0) break
    replayed += batch.replayed
  }
  return replayed
}
