import type { PackageMetadata, PackageState, TransportMode } from '@agent-exchange/protocol'
import { fragment, type Queries } from '@agent-exchange/database'

/** A package as an operator sees it: ids, states and times; never content, signatures or references to connectors. */
export interface PackageFacts {
  readonly package_id: string
  readonly thread_id: string
  readonly thread_position: number
  readonly state: PackageState
  readonly transport_mode: TransportMode
  readonly sender_org_id: string
  readonly sender_agent_id: string
  readonly recipient_org_id: string
  readonly recipient_agent_id: string
  readonly policy_receipt_id: string
  readonly responds_to_package_id: string | null
  readonly signing_key_id: string
  readonly content_digest: string
  readonly correlation_id: string
  readonly accepted_at: string
  readonly updated_at: string
  readonly expires_at: string
}

export const FACT_COLUMNS = fragment`
  package.package_id, package.thread_id, package.thread_position, package.state, package.transport_mode,
  package.sender_org_id, package.sender_agent_id, package.recipient_org_id, package.recipient_agent_id,
  package.policy_receipt_id, package.responds_to_package_id, package.signing_key_id, package.content_digest,
  package.correlation_id, package.accepted_at, package.updated_at, package.expires_at`

/** The same, with the members of its metadata that say what kind of content it is. */
export interface PackageDetails extends PackageFacts {
  readonly skill_id: string
  readonly skill_version: string
  readonly content_type: string
}

export async function findPackageDetails(db: Queries, id: string): Promise<PackageDetails | undefined> {
  const [row] = await db<(PackageFacts & { metadata: string })[]>`
    select ${FACT_COLUMNS}, metadata from package where package_id = ${id}`
  if (!row) return undefined
  const { metadata, ...facts } = row
  const { skill_id, skill_version, content_type } = JSON.parse(metadata) as PackageMetadata
  return { ...facts, skill_id, skill_version, content_type }
}

/** Packages of a thread in order of acceptance, whoever their parties are. */
export async function packagesOfThread(
  db: Queries,
  { threadId, after, limit }: { threadId: string; after: number; limit: number },
): Promise<PackageFacts[]> {
  return db.byIndex<PackageFacts[]>`
    select ${FACT_COLUMNS} from package where thread_id = ${threadId} and thread_position > ${after}
    order by thread_position limit ${limit}`
}
