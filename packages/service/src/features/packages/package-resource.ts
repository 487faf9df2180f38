import type { EdcReferences, PackageMetadata, PackageResource, Signature } from '@agent-exchange/protocol'
import type { Context } from '../../kernel/context.ts'
import type { PackageRow } from './store.ts'

/**
 * The package as one of its parties sees it. PKG-10: in ds_x only the connector can block access, so the exchange hides
 * the references from the recipient after a revocation.
 */
export function toPackageResource(
  row: PackageRow,
  { publicUrl, profile }: Context,
  viewer: string,
  metadata = JSON.parse(row.metadata) as PackageMetadata,
): PackageResource {
  const isNative = row.transport_mode === 'native'
  const mayFetch = row.state !== 'revoked' || viewer === row.sender_org_id
  const showReferences = !isNative && mayFetch && profile['O-24'].show_references
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
