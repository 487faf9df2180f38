import type { PackageState, TransportMode } from '@agent-exchange/protocol'
import { column, copyTarget, fragment, type Queries, type Transaction } from '@agent-exchange/database'
import type { ChainEnd } from '../audit/chain.ts'

/** This file owns the table package. */
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
  /** The signature of its policy receipt: it labels the package's records in the transparency log. */
  readonly receipt_signature: string
  /** The end of the chain of the package; both are null where its entries are of version 1. */
  readonly chain_position: number | null
  readonly chain_link: Uint8Array | null
}

/** The ends of the chains of those packages that have one of their own. */
export function chainsOf(rows: Iterable<Pick<PackageRow, 'package_id' | 'chain_position' | 'chain_link'>>) {
  const ends = new Map<string, ChainEnd>()
  for (const { package_id, chain_position: position, chain_link: link } of rows)
    if (position !== null && link !== null) ends.set(package_id, { position, link })
  return ends
}

/** The row after its chain moved to that end. */
export function withChain<Row extends PackageRow>(row: Row, ends: ReadonlyMap<string, ChainEnd>): Row {
  const end = ends.get(row.package_id)
  return end ? { ...row, chain_position: end.position, chain_link: end.link } : row
}

/** Packages from before the transparency log have it in the body of their policy receipt only. */
export const RECEIPT_SIGNATURE = fragment`coalesce(receipt_signature, (
  select body::json #>> '{signature,signature}' from policy_receipt
  where policy_receipt.policy_receipt_id = package.policy_receipt_id)) as receipt_signature`

export async function loadPackages(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, PackageRow>> {
  const rows = await queries<PackageRow[]>`
    select package.*, ${RECEIPT_SIGNATURE} from package where package_id = any(${[...ids]})`
  return new Map(rows.map((row) => [row.package_id, row]))
}

export type RecordedPackage = Pick<
  PackageRow,
  'package_id' | 'thread_id' | 'content_digest' | 'receipt_signature' | 'chain_position' | 'chain_link'
>

/** What an audit record says of its package, by package id. */
export async function recordedPackages(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, RecordedPackage>> {
  const rows = await queries<RecordedPackage[]>`
    select package_id, thread_id, content_digest, chain_position, chain_link, ${RECEIPT_SIGNATURE}
    from package where package_id = any(${[...ids]})`
  return new Map(rows.map((row) => [row.package_id, row]))
}

/** PKG-07: undefined for a package of other parties, as for one that does not exist. */
export async function findPackageOfParty(
  queries: Queries,
  packageId: string,
  organizationId: string,
): Promise<PackageRow | undefined> {
  const [row] = await queries<PackageRow[]>`
    select package.*, ${RECEIPT_SIGNATURE} from package where package_id = ${packageId}
      and (sender_org_id = ${organizationId} or recipient_org_id = ${organizationId})`
  return row
}

const PACKAGES = copyTarget<PackageRow>('package', {
  package_id: column.text,
  thread_id: column.text,
  thread_position: column.bigint,
  sender_org_id: column.text,
  sender_agent_id: column.text,
  recipient_org_id: column.text,
  recipient_agent_id: column.text,
  transport_mode: column.text,
  state: column.text,
  metadata: column.text,
  content_digest: column.text,
  digest_rule: column.text,
  signing_key_id: column.text,
  policy_receipt_id: column.text,
  responds_to_package_id: column.text,
  edc: column.text,
  sender_signature: column.text,
  created_at: column.text,
  expires_at: column.timestamptz,
  accepted_at: column.timestamptz,
  updated_at: column.timestamptz,
  correlation_id: column.text,
  receipt_signature: column.text,
  chain_position: column.bigint,
  chain_link: column.bytea,
})

export function insertPackages(tx: Transaction, rows: readonly PackageRow[]): Promise<void> {
  return tx.copy(PACKAGES, rows)
}

/** Writes the states and the ends of the chains of packages whose thread is locked. */
export async function updatePackages(tx: Transaction, rows: readonly PackageRow[]): Promise<void> {
  if (rows.length === 0) return
  const changes = rows.map(({ package_id, state, updated_at, chain_position, chain_link }) => {
    const link = chain_link && Buffer.from(chain_link).toString('hex')
    return { package_id, state, updated_at, chain_position, link }
  })
  await tx.byIndex`
    update package set state = change.state, updated_at = change.updated_at,
      chain_position = change.chain_position, chain_link = decode(change.link, 'hex')
    from json_to_recordset(${JSON.stringify(changes)}::text::json)
      as change (package_id text, state text, updated_at timestamptz, chain_position bigint, link text)
    where package.package_id = change.package_id`
}

/** Writes the ends of chains of packages whose thread is locked, and nothing else. */
export async function moveChains(tx: Transaction, ends: ReadonlyMap<string, ChainEnd>): Promise<void> {
  if (ends.size === 0) return
  const changes = [...ends].map(([package_id, { position, link }]) => {
    return { package_id, position, link: Buffer.from(link).toString('hex') }
  })
  await tx.byIndex`
    update package set chain_position = change.position, chain_link = decode(change.link, 'hex')
    from json_to_recordset(${JSON.stringify(changes)}::text::json)
      as change (package_id text, position bigint, link text)
    where package.package_id = change.package_id`
}
