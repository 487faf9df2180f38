import { CryptoError } from '@agent-exchange/crypto'
import type { DeploymentProfile, PackageMetadata, PolicyEnvelope } from '@agent-exchange/protocol'
import type { PackageRecord } from './evidence-bundle.ts'
import type { Findings, Signer } from './evidence-report.ts'
import type { KeyRing, RingKey } from './key-ring.ts'
import type { KeyVerdict } from './key-verdict.ts'
import type { EntryClaims } from './verify-chain.ts'

/** One package of the evidence, and what it is held against. */
export interface PackageCase {
  readonly record: PackageRecord
  readonly metadata: PackageMetadata
  readonly packageId: string
  /** Its entries, in the order of the chain. */
  readonly entries: readonly EntryClaims[]
  readonly ring: KeyRing
  readonly platformAgentId: string
  readonly profile: DeploymentProfile
  readonly policies: readonly PolicyEnvelope[]
  /** The envelope as it was downloaded, where the verifier has it. */
  readonly content: Uint8Array | undefined
  readonly findings: Findings
}

/** What signatures prove about a package, whatever its further entries say. */
export interface ProvedPackage {
  readonly metadata: PackageMetadata
  /** The sender signed the policy receipt, which covers this package. */
  readonly isFromSender: boolean
  /** The platform signed that it accepted the package. */
  readonly isAccepted: boolean
  /** That statement. */
  readonly acceptance: unknown
  /** The sender's signature covers all metadata, that of its manifest or of the content that was given. */
  readonly isMetadataSigned: boolean
}

/** Reports a signature: whether it fits, and whether its key counted at the time. */
export function reportSignature(
  { findings, packageId }: Pick<PackageCase, 'findings' | 'packageId'>,
  what: string,
  holds: boolean,
  verdict: KeyVerdict,
  about: { readonly signer: Signer; readonly position?: number },
): boolean {
  const { ok, doubt, detail } = holds
    ? verdict
    : { ok: false, doubt: undefined, detail: 'the signature does not fit' }
  const { signer: signedBy, ...place } = about
  findings.check(what, ok, detail, { packageId, ...place, doubt, ...(ok && { signedBy }) })
  return ok
}

/** Whether something is signed by a key. */
export async function isSigned(verify: (key: RingKey) => Promise<unknown>, key: RingKey): Promise<boolean> {
  try {
    await verify(key)
    return true
  } catch (error) {
    if (error instanceof CryptoError) return false
    throw error
  }
}
