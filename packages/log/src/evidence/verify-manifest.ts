import { verifyManifest } from '@agent-exchange/crypto'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import { acceptanceOf } from './verify-acceptance.ts'

const WHAT = 'the sender signed the manifest of the transfer'

/** PKG-03: the control manifest of a transfer. A native package has none. */
export async function verifyTransferManifest(subject: PackageCase): Promise<boolean> {
  const { record, metadata, ring, findings, packageId, entries } = subject
  const { edc, sender_signature } = record
  const { transport_mode } = metadata
  if (!edc || !sender_signature || transport_mode === 'native') return withoutManifest(subject)
  const acceptance = acceptanceOf(entries)
  const key = ring.find(metadata.sender_agent_id, sender_signature.key_id)
  const arrivedAt = acceptance?.textAt('proof/acceptance/accepted_at')
  if (!key || !acceptance || arrivedAt === undefined) {
    findings.check(WHAT, false, 'the signature names no key of the sender', { packageId })
    return false
  }
  const isSameKey = acceptance.at('proof/acceptance/signing_key_id') === sender_signature.key_id
  const what = 'the platform accepted the manifest under the key that signed it'
  findings.check(what, isSameKey, sender_signature.key_id, { packageId })
  const manifest = { transport_mode, metadata, edc, sender_signature }
  const holds = await isSigned(({ publicKey }) => verifyManifest(manifest, publicKey), key)
  const verdict = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  return reportSignature(subject, WHAT, holds, verdict, {
    signer: key.signer,
    position: acceptance.value.position,
  })
}

function withoutManifest({ record, metadata, findings, packageId, entries }: PackageCase): false {
  const isNone = record.edc === undefined && record.sender_signature === undefined
  const isNative = metadata.transport_mode === 'native'
  const isRevoked = entries.some(({ value }) => value.proof.kind === 'package_revoked')
  if (!isNone) findings.check(WHAT, false, isNative ? 'it is native' : 'a part is missing', { packageId })
  else if (!isNative && !isRevoked) findings.check(WHAT, false, 'it is missing', { packageId })
  else if (!isNative)
    findings.unverifiable(
      'the signature of the sender over the manifest of the transfer',
      'After a revocation the exchange shows it to the sender only. Ask the sender for its evidence.',
      packageId,
    )
  return false
}
