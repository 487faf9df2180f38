import { Claims } from './claims.ts'
import type { PackageCase } from './package-case.ts'
import { verifyContent } from './verify-content.ts'
import { verifyTransferManifest } from './verify-manifest.ts'

/**
 * The sender's envelope and, in ds_x, the manifest cover all metadata. Without one of them the policy receipt
 * covers some members, and the rest is the exchange's word.
 */
export async function verifyMetadata(subject: PackageCase): Promise<boolean> {
  const { record, metadata, checks, packageId } = subject
  const signatures = [await verifyTransferManifest(subject), await verifyContent(subject)]
  const isMetadataSigned = signatures.includes(true)
  const claims = new Claims(metadata)
  for (const name of Object.keys(metadata)) {
    if (isMetadataSigned) claims.cover(name)
    else claims.coverIfEqual(name, Reflect.get(record.policy_receipt, name))
  }
  const rest = claims.rest()
  if (rest !== undefined) checks.claim('metadata', rest, { package_id: packageId })
  return isMetadataSigned
}
