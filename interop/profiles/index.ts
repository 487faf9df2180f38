import { capsule, chainCapsule } from './capsule.ts'
import {
  policyReceipt,
  dsxManifest,
  packageHead,
  packageReceipt,
  packageRevocation,
  skillRelease,
} from './detached-signatures.ts'
import { base64url, canonicalJson, contentDigestField, digest } from './encodings.ts'
import { es256, publicJwk } from './keys-and-signatures.ts'
import { contentDigest, exchangeEnvelope, keyCommitment, sealedPackage } from './packages.ts'
import type { Check } from './profile.ts'
import {
  logChainRecordLeaf,
  logCheckpoint,
  logConsistency,
  logInclusion,
  logKeyLeaf,
  logOriginLeaf,
  logPackageChain,
  logRecordLeaf,
} from './transparency-log.ts'
import { webhookSignature } from './webhook-signature.ts'

/** Every profile by its name, which is also the name of its file in vectors/. */
export const PROFILES = {
  'canonical-json': canonicalJson,
  base64url,
  digest,
  'content-digest-field': contentDigestField,
  'public-jwk': publicJwk,
  es256,
  'policy-receipt': policyReceipt,
  'dsx-manifest': dsxManifest,
  'package-receipt': packageReceipt,
  'package-revocation': packageRevocation,
  'skill-release': skillRelease,
  'package-head': packageHead,
  'exchange-envelope': exchangeEnvelope,
  'sealed-package': sealedPackage,
  'content-digest': contentDigest,
  'key-commitment': keyCommitment,
  'webhook-signature': webhookSignature,
  'log-record-leaf': logRecordLeaf,
  'log-package-chain': logPackageChain,
  'log-chain-record-leaf': logChainRecordLeaf,
  'log-key-leaf': logKeyLeaf,
  'log-origin-leaf': logOriginLeaf,
  'log-checkpoint': logCheckpoint,
  'log-inclusion': logInclusion,
  'log-consistency': logConsistency,
  capsule,
  'chain-capsule': chainCapsule,
} as const satisfies Record<string, Check>

export type ProfileName = keyof typeof PROFILES
