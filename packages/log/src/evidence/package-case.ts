import { unlessRefused } from '@agent-exchange/crypto'
import type { DeploymentProfile, PackageMetadata, PolicyEnvelope } from '@agent-exchange/protocol'
import type { PackageRecord } from './evidence-bundle.ts'
import type { Check, Checks, CheckValues } from '../verdict/check.ts'
import type { ProvedState } from './evidence-report.ts'
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
  readonly checks: Checks
  readonly states: ProvedState[]
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

interface SignatureCase {
  readonly code: Check['code']
  readonly holds: boolean
  readonly verdict: KeyVerdict
  readonly key: RingKey
  readonly position?: number
  readonly values?: CheckValues
}

/** Reports a signature: whether it fits, and whether its key counted at the time. */
export function reportSignature(
  { checks, packageId }: Pick<PackageCase, 'checks' | 'packageId'>,
  { code, holds, verdict, key, position, values }: SignatureCase,
): boolean {
  const { agentId, organizationId, keyId } = key.signer
  const result = holds ? verdict.result : 'fails'
  checks.add(code, result, {
    package_id: packageId,
    ...(position !== undefined && { position }),
    agent_id: agentId,
    key_id: keyId,
    values: {
      organization_id: organizationId,
      ...(holds ? verdict.values : { fault: 'signature_mismatch' }),
      ...values,
    },
  })
  return result !== 'fails'
}

/** Whether something is signed by a key. */
export async function isSigned<K>(verify: (key: K) => Promise<unknown>, key: K): Promise<boolean> {
  const found = await unlessRefused(async () => {
    await verify(key)
    return true
  })
  return found ?? false
}
