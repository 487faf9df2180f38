import type { AlertRow, EndpointMailOrder, MailOrder, OrganizationMailOrder } from './alert-queries.ts'

export interface AlertMail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Reasons and addresses were written by others: no line of theirs may look like one of ours. */
const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

const MAXIMUM_LISTED = 50

/** O-19: what happened, since when, why, and how to see more. Never a body, nor anything of a package. */
export function alertMail(order: MailOrder, alerts: readonly AlertRow[], publicUrl: string): AlertMail {
  return order.webhook_endpoint_id === null
    ? organizationMail(order, alerts, publicUrl)
    : endpointMail(order, alerts, publicUrl)
}

function organizationMail(
  { organization_id, contact }: OrganizationMailOrder,
  alerts: readonly AlertRow[],
  publicUrl: string,
): AlertMail {
  const more = alerts.length - MAXIMUM_LISTED
  const lines = [
    `Alerts for ${organization_id}:`,
    '',
    ...alerts.slice(0, MAXIMUM_LISTED).map(({ raised_at, reason }) => `  ${raised_at}  ${oneLine(reason)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    '',
    'For the operator of the exchange:',
    `  aex alert list --org ${organization_id}`,
    '',
    `Sent by the exchange at ${publicUrl}. Further alerts for this organization are collected for an hour.`,
  ]
  const count = `${alerts.length} ${alerts.length === 1 ? 'alert' : 'alerts'}`
  return { to: contact, subject: `${organization_id}: ${count}`, text: `${lines.join('\n')}\n` }
}

function endpointMail(order: EndpointMailOrder, alerts: readonly AlertRow[], publicUrl: string): AlertMail {
  const dead = alerts.filter(({ kind }) => kind === 'delivery_dead')
  const disabled = alerts.findLast(({ kind }) => kind === 'endpoint_disabled')
  const failing = alerts.findLast(({ kind }) => kind === 'endpoint_failing')
  const failed = alerts.findLast(({ kind }) => kind === 'delivery_failed')
  const { webhook_endpoint_id: id, organization_id } = order
  const shown = (dead[0] ?? failed ?? failing)?.delivery_id
  const lines = [
    `Webhook endpoint ${id} of ${organization_id}`,
    `  address: ${oneLine(order.url)}`,
    `  status:  ${order.status}${order.status_reason === null ? '' : ` (${oneLine(order.status_reason)})`}`,
    '',
    ...(disabled
      ? [
          `It was disabled at ${disabled.raised_at}: ${oneLine(disabled.reason)}`,
          'Nothing is sent to it until an operator enables it.',
          '',
        ]
      : []),
    ...(failing ? [`It fails: ${oneLine(failing.reason)}`, ''] : []),
    ...deadLines(dead),
    ...(failed
      ? [
          `A notification could not be delivered at ${failed.raised_at}: ${oneLine(failed.reason)}`,
          'Such a delivery is not retried. An hour passes until the next alert about one.',
          '',
        ]
      : []),
    'No event is lost: the notifications stay in the stream, see GET /v1/notifications.',
    '',
    'For the operator of the exchange:',
    `  aex alert list --endpoint ${id}`,
    ...(dead.length > 0 ? [`  aex delivery list --state dead --endpoint ${id}`] : []),
    ...(failed ? [`  aex delivery list --state failed --endpoint ${id}`] : []),
    ...(failing ? [`  aex delivery list --state pending --endpoint ${id}`] : []),
    ...(shown ? [`  aex delivery show ${shown}`] : []),
    ...(order.status === 'disabled' ? [`  aex endpoint enable ${id} --replay --reason TEXT`] : []),
    '',
    `Sent by the exchange at ${publicUrl}. Further alerts about this endpoint are collected for an hour.`,
  ]
  return {
    to: order.contact,
    subject: subjectOf(order, { dead: dead.length, disabled, failing, failed }),
    text: `${lines.join('\n')}\n`,
  }
}

function deadLines(dead: readonly AlertRow[]): string[] {
  const [first] = dead
  if (!first) return []
  const last = dead.at(-1)?.raised_at
  const when = dead.length === 1 ? `at ${first.raised_at}` : `from ${first.raised_at} to ${last}`
  return [
    `${dead.length} ${dead.length === 1 ? 'notification' : 'notifications'} could not be delivered in seven attempts, ${when}.`,
    `The first because: ${oneLine(first.reason)}`,
    '',
  ]
}

interface Causes {
  readonly dead: number
  readonly disabled: AlertRow | undefined
  readonly failing: AlertRow | undefined
  readonly failed: AlertRow | undefined
}

function subjectOf(order: EndpointMailOrder, { dead, disabled, failing, failed }: Causes): string {
  const parts = [
    ...(disabled ? ['disabled'] : []),
    ...(failing ? ['fails'] : []),
    ...(dead > 0 ? [`${dead} undelivered ${dead === 1 ? 'notification' : 'notifications'}`] : []),
    ...(failed ? ['refuses notifications'] : []),
  ]
  return `Webhook endpoint ${order.webhook_endpoint_id}: ${parts.join(', ')}`
}
