import { description } from './table.ts'

interface ShownQuota {
  readonly used: number
  /** Null: no limit. */
  readonly maximum: number | null
  readonly is_default: boolean
}

/** `GET /operator/v1/organizations/ORG_ID/consent`. */
export interface Consent {
  readonly organization_id: string
  readonly accepts_from: 'anyone' | 'listed'
  readonly is_default: boolean
  readonly accepted: number
  readonly blocked: number
  readonly packages_per_day: ShownQuota
  readonly threads_per_day: ShownQuota
}

export function consentReport(consent: Consent): string {
  return description({
    organization_id: consent.organization_id,
    accepts_from: `${fromWhom(consent)}${byDefault(consent)}`,
    accepted: `${consent.accepted} listed`,
    blocked: `${consent.blocked} listed`,
    packages_per_day: quotaText(consent.packages_per_day),
    threads_per_day: quotaText(consent.threads_per_day),
  })
}

function fromWhom({ accepts_from, accepted }: Consent): string {
  if (accepts_from === 'anyone') return 'anyone who is not blocked'
  return accepted > 0 ? 'accepted organizations only' : 'nobody, because no accepted organization is listed'
}

function quotaText(quota: ShownQuota): string {
  const limit = quota.maximum === null ? 'no limit' : `at most ${quota.maximum.toLocaleString('en')}`
  return `${limit}, ${quota.used.toLocaleString('en')} today${byDefault(quota)}`
}

const byDefault = ({ is_default }: { readonly is_default: boolean }) =>
  is_default ? ' (as the deployment profile says)' : ''
