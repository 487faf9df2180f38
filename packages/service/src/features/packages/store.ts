import type {
  EdcReferences,
  PackageMetadata,
  PackageResource,
  PackageState,
  Signature,
  TransportMode,
} from '@agent-exchange/protocol'
import { columnsOf } from '../../db/columns.ts'
import type { Queries, Transaction, Write } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'

/** The owner of the tables package and package_content. */
export interface PackageRow {
  readonly package_id: string
  readonly thread_id: string
  readonly thread_position: number
  readonly sender_org_id: string
  readonly sender_agent_id: string
  readonly recipient_org_id: string
  readonly recipient_agent_id: string
  readonly transport_mode: TransportMode
  readonly state: PackageState
  readonly metadata: string
  readonly content_digest: string
  readonly digest_rule: string | null
  readonly signing_key_id: string
  readonly policy_receipt_id: string
  readonly responds_to_package_id: string | null
  readonly edc: string | null
  readonly sender_signature: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly accepted_at: string
  readonly updated_at: string
  readonly correlation_id: string
}

export async function loadPackages(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, PackageRow>> {
  const rows = await queries<PackageRow[]>`
    select * from package where package_id = any(${[...ids]})`.execute()
  return new Map(rows.map((row) => [row.package_id, row]))
}

/** PKG-07: a package that is not yours and one that does not exist look alike. */
export async function findPackageOfParty(
  queries: Queries,
  packageId: string,
  organizationId: string,
): Promise<PackageRow | undefined> {
  const [row] = await queries<PackageRow[]>`
    select * from package where package_id = ${packageId}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})`
  return row
}

export function packagesWrite(tx: Transaction, rows: readonly PackageRow[]): Write {
  const column = columnsOf(rows)
  return tx`
    insert into package (
      package_id, thread_id, thread_position, sender_org_id, sender_agent_id, recipient_org_id, recipient_agent_id,
      transport_mode, state, metadata, content_digest, digest_rule, signing_key_id, policy_receipt_id,
      responds_to_package_id, edc, sender_signature, created_at, expires_at, accepted_at, updated_at, correlation_id)
    select
      package_id, thread_id, thread_position::bigint, sender_org_id, sender_agent_id, recipient_org_id, recipient_agent_id,
      transport_mode, state, metadata, content_digest, nullif(digest_rule, ''), signing_key_id, policy_receipt_id,
      nullif(responds_to_package_id, ''), nullif(edc, ''), nullif(sender_signature, ''), created_at,
      expires_at::timestamptz, accepted_at::timestamptz, updated_at::timestamptz, correlation_id
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('package_id')}, mark), string_to_array(${column('thread_id')}, mark),
      string_to_array(${column('thread_position')}, mark), string_to_array(${column('sender_org_id')}, mark),
      string_to_array(${column('sender_agent_id')}, mark), string_to_array(${column('recipient_org_id')}, mark),
      string_to_array(${column('recipient_agent_id')}, mark), string_to_array(${column('transport_mode')}, mark),
      string_to_array(${column('state')}, mark), string_to_array(${column('metadata')}, mark),
      string_to_array(${column('content_digest')}, mark), string_to_array(${column('digest_rule')}, mark),
      string_to_array(${column('signing_key_id')}, mark), string_to_array(${column('policy_receipt_id')}, mark),
      string_to_array(${column('responds_to_package_id')}, mark), string_to_array(${column('edc')}, mark),
      string_to_array(${column('sender_signature')}, mark), string_to_array(${column('created_at')}, mark),
      string_to_array(${column('expires_at')}, mark), string_to_array(${column('accepted_at')}, mark),
      string_to_array(${column('updated_at')}, mark), string_to_array(${column('correlation_id')}, mark)) as row (
      package_id, thread_id, thread_position, sender_org_id, sender_agent_id, recipient_org_id, recipient_agent_id,
      transport_mode, state, metadata, content_digest, digest_rule, signing_key_id, policy_receipt_id,
      responds_to_package_id, edc, sender_signature, created_at, expires_at, accepted_at, updated_at,
      correlation_id)`
}

/**
 * One parameter for all bodies: a list of them costs the driver several times as much. It is text, because the driver
 * would write bytes in hex; the server turns it into the bytes that it came from.
 */
export function contentsWrite(
  tx: Transaction,
  contents: readonly { readonly row: PackageRow; readonly text: string }[],
): Write {
  let offset = 1
  const places = contents.map(({ row: { package_id, expires_at }, text }) => {
    const place = { package_id, expires_at, start: offset, length: Buffer.byteLength(text) }
    offset += place.length
    return place
  })
  const all = contents.map(({ text }) => text).join('')
  const column = columnsOf(places)
  return tx`
    insert into package_content (package_id, expires_at, body)
    select package_id, expires_at::timestamptz, substring(bytes from start::int for length::int)
    from (select convert_to(${all}::text, 'UTF8') as bytes, ${column.separator}::text as mark offset 0) as sent, unnest(
      string_to_array(${column('package_id')}, mark), string_to_array(${column('expires_at')}, mark),
      string_to_array(${column('start')}, mark), string_to_array(${column('length')}, mark)) as place (
      package_id, expires_at, start, length)`
}

export async function readContent(
  queries: Queries,
  { package_id, expires_at }: PackageRow,
): Promise<Buffer | undefined> {
  const [row] = await queries<{ body: Buffer }[]>`
    select body from package_content where package_id = ${package_id} and expires_at = ${expires_at}`
  return row?.body
}

/** Writes the states of packages whose thread is locked. */
export async function setStates(tx: Transaction, rows: readonly PackageRow[]): Promise<void> {
  if (rows.length === 0) return
  const changes = rows.map(({ package_id, state, updated_at }) => ({ package_id, state, updated_at }))
  await tx`
    update package set state = change.state, updated_at = change.updated_at
    from json_to_recordset(${JSON.stringify(changes)}::text::json)
      as change (package_id text, state text, updated_at timestamptz)
    where package.package_id = change.package_id`.execute()
}

export function toPackageResource(
  row: PackageRow,
  { publicUrl, profile }: Context,
  metadata = JSON.parse(row.metadata) as PackageMetadata,
): PackageResource {
  const isNative = row.transport_mode === 'native'
  const showReferences = !isNative && profile['O-24'].show_references
  return {
    package_id: row.package_id,
    thread_id: row.thread_id,
    transport_mode: row.transport_mode,
    state: row.state,
    created_at: row.accepted_at,
    updated_at: row.updated_at,
    metadata,
    ...(isNative && { ciphertext_download_url: downloadUrl(publicUrl, row.package_id) }),
    ...(showReferences && row.edc !== null && { edc: JSON.parse(row.edc) as EdcReferences }),
    ...(showReferences &&
      row.sender_signature !== null && { sender_signature: JSON.parse(row.sender_signature) as Signature }),
  }
}

/** Outside `/v1`: the download is not one of the 21 operations (O-36). */
export const DOWNLOAD_PATH = '/content/packages/'

function downloadUrl(publicUrl: string, packageId: string): string {
  return `${publicUrl}${DOWNLOAD_PATH}${encodeURIComponent(packageId)}`
}
