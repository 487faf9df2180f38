import { canonicalBytes, sha256Digest, signManifest } from '@agent-exchange/crypto'
import { signAsPlatform } from '@agent-exchange/testkit'
import type { ChainStory } from './chain-story.ts'
import { changed, entryOf, packageOf, type MutableCapsule } from './change-capsule.ts'

/** Of the third package, which acme sent and revoked. */
const [PACKAGE, ACCEPTANCE] = [2, 3]

/** The third package as a connector transfer, signed by its sender and accepted by the platform as such. */
export async function asTransfer({ acme, world, capsule }: ChainStory): Promise<MutableCapsule> {
  const copy = changed(capsule)
  const shown = packageOf(copy, PACKAGE)
  shown.metadata.transport_mode = 'ds_x'
  shown.edc = {
    connector_id: 'connector_acme',
    asset_id: 'asset_1',
    asset_digest: shown.metadata.content_digest,
  }
  const { proof } = entryOf(copy, PACKAGE, ACCEPTANCE)
  const keyId = proof['signing_key_id'] as string
  const manifest = { transport_mode: 'ds_x', metadata: shown.metadata, edc: shown.edc }
  shown.sender_signature = await signManifest(manifest, { key: await acme.keys.privateKey(keyId), keyId })
  const { signature: _, ...statement } = proof['acceptance'] as { signature: unknown }
  const accepted = { ...statement, metadata_digest: await sha256Digest(canonicalBytes(shown.metadata)) }
  proof['acceptance'] = { ...accepted, signature: await signAsPlatform(world, accepted) }
  proof['states'] = ['accepted']
  return copy
}
