import type { Queries, Transaction } from '@agent-exchange/database'

/** A row of expiry_notice; this file owns the table. */
export interface ExpiryNotice {
  /** Such as `certificate tls`, `key webhook`, `client client_...`. */
  readonly subject: string
  readonly organization_id: string
  readonly expires_at: string
  readonly is_expired: boolean
}

/** The earliest end first. */
export async function listNotices(queries: Queries, limit: number): Promise<ExpiryNotice[]> {
  return queries<ExpiryNotice[]>`
    select subject, organization_id, expires_at, is_expired from expiry_notice
    order by expires_at, subject limit ${limit}`
}

export async function saveNotice(tx: Transaction, notice: ExpiryNotice, now: string): Promise<void> {
  await tx`
    insert into expiry_notice (subject, organization_id, expires_at, is_expired, noticed_at)
    values (${notice.subject}, ${notice.organization_id}, ${notice.expires_at}, ${notice.is_expired}, ${now})
    on conflict (subject) do update set organization_id = excluded.organization_id,
      expires_at = excluded.expires_at, is_expired = excluded.is_expired, noticed_at = excluded.noticed_at`
}

/** Removes the notices of everything that was replaced. */
export async function removeOtherNotices(tx: Transaction, subjects: readonly string[]): Promise<void> {
  await tx`delete from expiry_notice where not (subject = any(${[...subjects]}::text[]))`
}
