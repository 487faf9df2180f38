import { column, copyTarget, type Queries, type Transaction } from '@agent-exchange/database'
import { partitionOf } from '../retention/partitioned-tables.ts'
import { fromParts, type ContentPart } from './content-parts.ts'

/** The owner of the table package_content. */

/** The submitted body of a package. */
interface PackageContent {
  readonly package_id: string
  readonly expires_at: string
  readonly parts: readonly ContentPart[]
}

type ContentRow = ContentPart & Omit<PackageContent, 'parts'> & { readonly part: number }

const ROWS = copyTarget<ContentRow>('package_content', {
  expires_at: column.timestamptz,
  part: column.integer,
  package_id: column.text,
  before: column.text,
  payload: column.bytea,
  after: column.text,
})

export function insertContents(tx: Transaction, contents: readonly PackageContent[]): Promise<void> {
  const rows = contents.flatMap(({ package_id, expires_at, parts }) =>
    parts.map((piece, part) => ({ package_id, expires_at, part, ...piece })),
  )
  return tx.copy(ROWS, rows)
}

export async function readContent(
  queries: Queries,
  { package_id, expires_at }: Pick<PackageContent, 'package_id' | 'expires_at'>,
): Promise<Buffer | undefined> {
  const read = () => queries<ContentPart[]>`
    select before, payload, after from package_content
    where package_id = ${package_id} and expires_at = ${expires_at} order by part`
  let parts = await read()
  // The first statement may have waited for the default partition while the content left it for one of its own.
  if (parts.length === 0) parts = await read()
  return parts.length === 0 ? undefined : fromParts(parts)
}

/** Of one sender. */
export interface RemovedContents {
  readonly sender_org_id: string
  readonly contents: number
  readonly bytes: number
}

/** At most `limit` contents of a partition that expired before a time, each with all of its parts; the first part counts. */
export async function removeOldContents(
  tx: Transaction,
  partition: string,
  before: string,
  limit: number,
): Promise<RemovedContents[]> {
  return tx<RemovedContents[]>`
    with gone as (
      delete from ${partitionOf('package_content', partition)} where (expires_at, package_id) in (
        select expires_at, package_id from ${partitionOf('package_content', partition)} where expires_at < ${before} and part = 0
        order by expires_at, package_id limit ${limit})
      returning package_id, part, octet_length(before) + octet_length(payload) + octet_length(after) as bytes)
    select sender_org_id, count(*) filter (where part = 0) as contents, sum(bytes)::bigint as bytes
    from gone join package using (package_id) group by sender_org_id`
}
