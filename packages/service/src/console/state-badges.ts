import { badge, type Html, type Tone } from '@agent-exchange/web'

const PACKAGE_TONES: Readonly<Record<string, Tone>> = {
  accepted: 'info',
  encrypted_available: 'info',
  transfer_started: 'info',
  delivered: 'info',
  received: 'good',
  opened: 'good',
  responded: 'good',
  revoked: 'bad',
}
const DELIVERY_TONES: Readonly<Record<string, Tone>> = {
  pending: 'info',
  retrying: 'warn',
  delivered: 'good',
  failed: 'bad',
  dead: 'bad',
}
const ENDPOINT_TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  failing: 'warn',
  disabled: 'bad',
  deleted: 'neutral',
}

export const packageBadge = (state: string): Html =>
  badge(PACKAGE_TONES[state] ?? 'neutral', state.replaceAll('_', ' '))
export const deliveryBadge = (state: string): Html => badge(DELIVERY_TONES[state] ?? 'neutral', state)
/** A delivery whose last attempt failed is not merely pending. */
export const shownState = (state: string, hasFailedAttempt: boolean): string =>
  state === 'pending' && hasFailedAttempt ? 'retrying' : state
/** An active endpoint whose last attempt failed is not merely active. */
export const endpointState = (status: string, failingSince: string | null): string =>
  status === 'active' && failingSince !== null ? 'failing' : status
export const endpointBadge = (status: string): Html => badge(ENDPOINT_TONES[status] ?? 'neutral', status)
