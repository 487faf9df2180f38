import { verifyManifest } from '@agent-exchange/crypto'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import { acceptanceOf } from './verify-acceptance.ts'

/** PKG-03: the control manifest of a transfer. A native package has none. */
export async function verifyTransferManifest(subject: PackageCase): Promise<boolean> {
  const { record, metadata, ring, checks, packageId, entries } = subject
  const { edc, sender_signature } = record
  const { transport_mode } = metadata
  if (!edc || !sender_signature || transport_mode === 'native') return withoutManifest(subject)
  const acceptance = acceptanceOf(entries)
  const key = ring.find(metadata.sender_agent_id, sender_signature.key_id)
  const arrivedAt = acceptance?.textAt('proof/acceptance/accepted_at')
  if (!key || !acceptance || arrivedAt === undefined)
    return checks.fails('manifest_signature', { package_id: packageId, values: { fault: 'key_unknown' } })
  const isSameKey = acceptance.at('proof/acceptance/signing_key_id') === sender_signature.key_id
  const { key_id } = sender_signature
  checks.check('manifest_key', isSameKey, { package_id: packageId, key_id })
  const manifest = { transport_mode, metadata, edc, sender_signature }
  const holds = await isSigned(({ publicKey }) => verifyManifest(manifest, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  const { position } = acceptance.value
  return reportSignature(subject, { code: 'manifest_signature', holds, verdict, key, position })
}

function withoutManifest({ record, metadata, checks, packageId, entries }: PackageCase): false {
  const isNone = record.edc === undefined && record.sender_signature === undefined
  const isNative = metadata.transport_mode === 'native'
  const isRevoked = entries.some(({ value }) => value.proof.kind === 'package_revoked')
  const about = { package_id: packageId }
  if (!isNone)
    return checks.fails('manifest_signature', {
      ...about,
      values: { fault: isNative ? 'manifest_unexpected' : 'manifest_partial' },
    })
  if (isNative) return false
  // After a revocation the exchange shows it to the sender only.
  if (!isRevoked)
    return checks.fails('manifest_signature', { ...about, values: { fault: 'manifest_missing' } })
  checks.unproved('manifest_signature', { ...about, values: { fault: 'manifest_withheld' } })
  return false
}
