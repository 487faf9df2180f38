import { createHash } from 'node:crypto'
import type { Transaction } from './database.ts'

/** The owner of the table idempotency_record. */

/** Who claims which key for what (API-04). The key itself is not stored. */
export interface Claim {
  readonly organizationId: string
  readonly scope: string
  readonly key: string
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

/** One text for one claim: what is locked, and what results are found by. */
export function claimName({ organizationId, scope, key }: Claim): string {
  return [organizationId, scope, keyHash(key).toString('hex')].join('\0')
}

export async function findRecords(
  tx: Transaction,
  claims: readonly Claim[],
): Promise<Map<string, FoundRecord>> {
  const rows = await tx<
    {
      organization_id: string
      scope: string
      key_hash: Buffer
      content_hash: Buffer
      status: number
      body: string
    }[]
  >`
    select organization_id, scope, key_hash, content_hash, status, body from idempotency_record
    join unnest(${claims.map((claim) => claim.organizationId)}::text[], ${claims.map((claim) => claim.scope)}::text[],
                ${claims.map((claim) => keyHash(claim.key).toString('hex'))}::text[])
      as claimed (organization_id, scope, hex) using (organization_id, scope)
    where key_hash = decode(hex, 'hex')`
  return new Map(
    rows.map((row) => [
      [row.organization_id, row.scope, row.key_hash.toString('hex')].join('\0'),
      { status: row.status, body: row.body, contentHash: row.content_hash },
    ]),
  )
}

export async function insertRecords(tx: Transaction, records: readonly IdempotencyRecord[]): Promise<void> {
  if (records.length === 0) return
  const rows = records.map(({ claim, contentHash, status, body, recordedAt }) => ({
    organization_id: claim.organizationId,
    scope: claim.scope,
    key_hash: keyHash(claim.key).toString('hex'),
    content_hash: Buffer.from(contentHash).toString('hex'),
    status,
    body,
    recorded_at: recordedAt,
  }))
  await tx`
    insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
    select organization_id, scope, decode(key_hash, 'hex'), decode(content_hash, 'hex'), status, body, recorded_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      organization_id text, scope text, key_hash text, content_hash text, status integer, body text,
      recorded_at timestamptz)`
}

function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
