import {
  checkAdditionalData,
  decodeBase64url,
  openDisclosedPackage,
  parseEnvelope,
  unlessRefused,
  type OpenedPackage,
} from '@agent-exchange/crypto'
import { MEDIA_TYPE, type DeploymentProfile } from '@agent-exchange/protocol'
import { MAXIMUM_DEPTH } from '../evidence/evidence-bundle.ts'
import { isSigned } from '../evidence/package-case.ts'
import type { Check, Checks } from '../verdict/check.ts'
import type { DisclosedContent } from './capsule-result.ts'
import type { CapsulePackage, CapsuleV3 } from './capsule-v3-format.ts'
import { verifyDisclosureSignature, type Disclosure } from './disclosure.ts'
import type { BoundKey } from './verify-shown-keys.ts'

/** Envelopes that the capsule discloses, by package id. */
export function disclosedEnvelopes({ packages }: CapsuleV3): Record<string, Uint8Array> {
  const encoder = new TextEncoder()
  return Object.fromEntries(
    packages.flatMap(({ metadata, disclosure }) =>
      disclosure ? [[metadata.package_id, encoder.encode(disclosure.envelope)]] : [],
    ),
  )
}

interface Verified {
  readonly keys: readonly BoundKey[]
  /** What signatures prove, that of the sender over each disclosed envelope too. */
  readonly signed: readonly Check[]
  readonly profile: DeploymentProfile
}

/**
 * Opens what the capsule discloses. Only content that the sender signed and that opens under the disclosed key is
 * returned. The key is proved if the sender committed to it, or if the recipient discloses it: A256GCM alone lets a sender
 * craft a ciphertext that opens under two keys.
 */
export async function verifyDisclosures(
  { packages }: CapsuleV3,
  verified: Verified,
  checks: Checks,
): Promise<ReadonlyMap<string, DisclosedContent>> {
  const contents = new Map<string, DisclosedContent>()
  for (const shown of packages) {
    const content = shown.disclosure && (await verifyOne(shown, shown.disclosure, verified, checks))
    if (content) contents.set(shown.metadata.package_id, content)
  }
  return contents
}

async function verifyOne(
  { metadata }: CapsulePackage,
  disclosure: Disclosure,
  { keys, signed, profile }: Verified,
  checks: Checks,
): Promise<DisclosedContent | undefined> {
  const { package_id } = metadata
  const { disclosed_by: by } = disclosure
  const contentKey = unlessRefused(() => decodeBase64url(disclosure.content_key))
  const isParty = [metadata.sender_org_id, metadata.recipient_org_id].includes(by.organization_id)
  const key = keys.find((each) => isKeyOf(each, disclosure))
  const isDisclosed =
    isParty && key && contentKey && (await isSignedBy(key, { package_id, contentKey, disclosure }))
  const about = { package_id, agent_id: by.agent_id, key_id: disclosure.signature.key_id }
  if (!isDisclosed) {
    const fault = isParty ? (key ? 'signature_mismatch' : 'key_unknown') : 'other_organization'
    checks.fails('disclosure_signature', { ...about, values: { fault } })
    return undefined
  }
  const isRevoked = key.events.some(({ event }) => event.kind === 'revoked')
  checks.add('disclosure_signature', isRevoked ? 'doubt' : 'holds', {
    ...about,
    values: { organization_id: by.organization_id },
  })
  // The sender's signature over the envelope was reported where signatures are verified.
  const isOfSender = signed.some(
    (check) =>
      check.code === 'content_signature' && check.package_id === package_id && check.result !== 'fails',
  )
  if (!isOfSender) return undefined
  const opened = await open(disclosure, contentKey, profile)
  if (!checks.check('disclosure_content', opened !== undefined, { package_id }) || !opened) return undefined
  const { keyCommitment, differingMetadata } = checkAdditionalData(opened, metadata)
  if (keyCommitment === 'differs' || differingMetadata.length > 0) {
    const fault = keyCommitment === 'differs' ? 'other_key' : 'other_metadata'
    checks.fails('disclosure_key', { package_id, values: { fault } })
    return undefined
  }
  const isProved = keyCommitment === 'fits' || by.organization_id === metadata.recipient_org_id
  checks.add('disclosure_key', isProved ? 'holds' : 'unproved', { package_id })
  return {
    by: { organizationId: by.organization_id, agentId: by.agent_id },
    isProved,
    text: new TextDecoder().decode(opened.plaintext),
  }
}

function isKeyOf({ key }: BoundKey, { disclosed_by, signature }: Disclosure): boolean {
  return (
    key.key_id === signature.key_id &&
    key.agent_id === disclosed_by.agent_id &&
    key.organization_id === disclosed_by.organization_id
  )
}

async function isSignedBy(
  { publicKey }: BoundKey,
  {
    package_id: packageId,
    contentKey,
    disclosure: { envelope, disclosed_by: disclosedBy, signature },
  }: { readonly package_id: string; readonly contentKey: Uint8Array; readonly disclosure: Disclosure },
): Promise<boolean> {
  const disclosed = { packageId, envelope, contentKey, disclosedBy }
  return isSigned((key) => verifyDisclosureSignature(disclosed, { signature, publicKey: key }), publicKey)
}

async function open(
  { envelope }: Disclosure,
  contentKey: Uint8Array,
  profile: DeploymentProfile,
): Promise<OpenedPackage | undefined> {
  const contentTypes = [MEDIA_TYPE.reasoningPackage, ...profile['O-35'].content_types]
  return unlessRefused(async () => {
    const { jwe } = parseEnvelope(new TextEncoder().encode(envelope), {
      contentTypes,
      maxDepth: MAXIMUM_DEPTH,
    })
    return openDisclosedPackage(jwe, contentKey, { contentTypes })
  })
}
