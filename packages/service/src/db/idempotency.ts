import { hash } from 'node:crypto'
import { columnsOf } from './columns.ts'
import type { Transaction } from './database.ts'

/** The owner of the table idempotency_record. */

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

/** One text for one claim: what is locked, and what results are found by. */
export function claimName({ organizationId, scope, keyHash }: Claim): string {
  return [organizationId, scope, keyHash].join('\0')
}

export async function findRecords(
  tx: Transaction,
  claims: readonly Claim[],
): Promise<Map<string, FoundRecord>> {
  const rows = await tx<(Claim & FoundRecord)[]>`
    select claimed.*, record.* from unnest(
        ${claims.map((claim) => claim.organizationId)}::text[], ${claims.map((claim) => claim.scope)}::text[],
        ${claims.map((claim) => claim.keyHash)}::text[]) as claimed ("organizationId", scope, "keyHash"),
      lateral (
        select content_hash as "contentHash", status, body from idempotency_record
        where organization_id = claimed."organizationId" and idempotency_record.scope = claimed.scope
          and key_hash = decode(claimed."keyHash", 'hex') limit 1) as record`.execute()
  return new Map(
    rows.map(({ status, body, contentHash, ...claim }) => [claimName(claim), { status, body, contentHash }]),
  )
}

export async function insertRecords(tx: Transaction, records: readonly IdempotencyRecord[]): Promise<void> {
  if (records.length === 0) return
  const rows = records.map(({ claim, contentHash, status, body, recordedAt }) => ({
    organization_id: claim.organizationId,
    scope: claim.scope,
    key_hash: claim.keyHash,
    content_hash: Buffer.from(contentHash).toString('hex'),
    status,
    body,
    recorded_at: recordedAt,
  }))
  const column = columnsOf(rows)
  await tx`
    insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
    select organization_id, scope, decode(key_hash, 'hex'), decode(content_hash, 'hex'), status::integer, body,
      recorded_at::timestamptz
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('organization_id')}, mark), string_to_array(${column('scope')}, mark),
      string_to_array(${column('key_hash')}, mark), string_to_array(${column('content_hash')}, mark),
      string_to_array(${column('status')}, mark), string_to_array(${column('body')}, mark),
      string_to_array(${column('recorded_at')}, mark)) as row (
      organization_id, scope, key_hash, content_hash, status, body, recorded_at)`.execute()
}
