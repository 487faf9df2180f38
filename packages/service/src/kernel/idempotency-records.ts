import { hash } from 'node:crypto'
import { column, copyTarget, type Queries, type Transaction } from '@agent-exchange/database'

/** The only module that reads and writes the table idempotency_record. */

/** Who claims which key for what (API-04). The key itself is not stored. */
export interface Claim {
  readonly organizationId: string
  readonly scope: string
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string
}

/** An answer that was committed, to be given again byte for byte. */
export interface RecordedAnswer {
  readonly status: number
  readonly body: string
}

export interface IdempotencyRecord extends RecordedAnswer {
  readonly claim: Claim
  readonly contentHash: Uint8Array
  readonly recordedAt: string
}

export type FoundRecord = RecordedAnswer & { readonly contentHash: Uint8Array }

export function toClaim(organizationId: string, scope: string, key: string): Claim {
  return { organizationId, scope, keyHash: hash('sha256', key, 'hex') }
}

/** Identifies the claim: the name of its lock, and the key of its record in `findRecords`. */
export function claimName({ organizationId, scope, keyHash }: Claim): string {
  return [organizationId, scope, keyHash].join('\0')
}

export async function findRecords(db: Queries, claims: readonly Claim[]): Promise<Map<string, FoundRecord>> {
  const rows = await db.byIndex<(Claim & FoundRecord)[]>`
    select claimed.*, record.* from unnest(
        ${claims.map((claim) => claim.organizationId)}::text[], ${claims.map((claim) => claim.scope)}::text[],
        ${claims.map((claim) => claim.keyHash)}::text[]) as claimed ("organizationId", scope, "keyHash"),
      lateral (
        select content_hash as "contentHash", status, body from idempotency_record
        where organization_id = claimed."organizationId" and idempotency_record.scope = claimed.scope
          and key_hash = decode(claimed."keyHash", 'hex') limit 1) as record`
  return new Map(
    rows.map(({ status, body, contentHash, ...claim }) => [claimName(claim), { status, body, contentHash }]),
  )
}

interface RecordRow {
  readonly organization_id: string
  readonly scope: string
  readonly key_hash: Uint8Array
  readonly content_hash: Uint8Array
  readonly status: number
  readonly body: string
  readonly recorded_at: string
}

const RECORDS = copyTarget<RecordRow>('idempotency_record', {
  organization_id: column.text,
  scope: column.text,
  key_hash: column.bytea,
  content_hash: column.bytea,
  status: column.integer,
  body: column.text,
  recorded_at: column.timestamptz,
})

export function insertRecords(tx: Transaction, records: readonly IdempotencyRecord[]): Promise<void> {
  const rows = records.map(({ claim, contentHash, status, body, recordedAt }) => ({
    organization_id: claim.organizationId,
    scope: claim.scope,
    key_hash: Buffer.from(claim.keyHash, 'hex'),
    content_hash: contentHash,
    status,
    body,
    recorded_at: recordedAt,
  }))
  return tx.copy(RECORDS, rows)
}

/** At most `limit` of them. @returns the number of rows */
export async function removeRecordsOf(
  tx: Transaction,
  organizationId: string,
  limit: number,
): Promise<number> {
  const { count } = await tx`
    delete from idempotency_record where ctid = any(array(
      select ctid from idempotency_record where organization_id = ${organizationId} limit ${limit}))`
  return count
}

/** At most `limit` of those recorded before a time. @returns the number of rows */
export async function removeOldRecords(tx: Transaction, before: string, limit: number): Promise<number> {
  const { count } = await tx`
    delete from idempotency_record where ctid in (
      select ctid from idempotency_record where recorded_at < ${before} limit ${limit} for update skip locked)`
  return count
}
