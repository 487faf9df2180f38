import { canonicalJson } from './canonical-json.ts'
import { contentDigest } from './content-digest.ts'
import { base64url, contentDigestField, digest } from './encodings.ts'
import { es256 } from './es256.ts'
import { exchangeEnvelope } from './exchange-envelope.ts'
import { checkpoints } from './log-checkpoints.ts'
import { chainRecordLeaves, packageChains } from './log-package-chain.ts'
import { consistencyProofs } from './log-consistency.ts'
import { inclusionProofs } from './log-inclusion.ts'
import { keyLeaves, originLeaves, recordLeaves } from './log-leaves.ts'
import { keyCommitment } from './key-commitment.ts'
import { packageReceipt, packageRevocation } from './package-statements.ts'
import { publicJwk } from './public-jwk.ts'
import { sealedPackage } from './sealed-package.ts'
import { dsxManifest, packageHead, policyReceipt, skillRelease } from './signed-documents.ts'
import type { Story } from './story.ts'
import type { Generated } from './vectors.ts'
import { webhookSignature } from './webhook-signature.ts'

export const GENERATORS: readonly ((story: Story) => Generated | Promise<Generated>)[] = [
  canonicalJson,
  base64url,
  digest,
  contentDigestField,
  publicJwk,
  es256,
  policyReceipt,
  dsxManifest,
  packageReceipt,
  packageRevocation,
  skillRelease,
  packageHead,
  exchangeEnvelope,
  sealedPackage,
  contentDigest,
  keyCommitment,
  webhookSignature,
  recordLeaves,
  packageChains,
  chainRecordLeaves,
  keyLeaves,
  originLeaves,
  checkpoints,
  inclusionProofs,
  consistencyProofs,
]
