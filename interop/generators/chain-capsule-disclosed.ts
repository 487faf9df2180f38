import {
  contentKeyCommitment,
  decodeBase64url,
  encodeBase64url,
  writeAdditionalData,
} from '@agent-exchange/crypto'
import { signDisclosure, type Disclosure } from '@agent-exchange/log'
import type { TestAgent } from '../../packages/sdk/src/agents.fixture.ts'
import { disclosePackage } from '../../packages/sdk/src/open/disclose-package.ts'
import { sendCrafted } from '../../packages/sdk/src/send/crafted.fixture.ts'
import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { changed, packageOf } from './change-capsule.ts'
import { flipped } from './vectors.ts'

/** Packages of acme: one as the SDK seals it, and three that it sealed by hand. */
const [COMMITTED, OPAQUE, OTHER_METADATA, OTHER_KEY] = [0, 4, 5, 6]
const ANOTHER_KEY = new Uint8Array(32)
const OWN_DATA = new TextEncoder().encode('of another implementation')

/** Packages with additional data that our SDK does not write, in a thread. */
export async function sendOddlySealed(acme: TestAgent, bolt: TestAgent, threadId: string): Promise<void> {
  const data = [
    OWN_DATA,
    writeAdditionalData({ package_id: 'pkg_other' } as never),
    writeAdditionalData({} as never, { keyCommitment: contentKeyCommitment(ANOTHER_KEY) }),
  ]
  for (const aad of data) await sendCrafted(acme, bolt, { aad, metadata: { thread_id: threadId } })
}

/** Content that a party shows: proved, claimed by its sender alone, or contradicting its package. */
export async function disclosingCapsules(story: ChainStory): Promise<ChangedCapsule[]> {
  const { acme, bolt, capsule } = story
  const idOf = (index: number) => packageOf(changed(capsule), index).metadata.package_id
  const disclose = (agent: TestAgent, index: number) => disclosePackage(agent, idOf(index))
  const showing = (disclosure: Disclosure, index = COMMITTED) =>
    changed(capsule, (c) => (packageOf(c, index).disclosure = disclosure))
  const byBolt = await disclose(bolt, COMMITTED)
  const ofOther = await disclose(bolt, OPAQUE)
  const { key_id: retired } = packageOf(changed(capsule), COMMITTED).policy_receipt.signature
  const signed = (agent: TestAgent, keyId: string, changes: Partial<Disclosure> = {}) =>
    signedBy(agent, keyId, { ...byBolt, ...changes }, idOf(COMMITTED))
  const { key_id: ofBolt } = byBolt.signature
  const edited = (name: string, description: string, changes: Partial<Disclosure>) =>
    ({
      name,
      description,
      code: 'disclosure_signature',
      capsule: showing({ ...byBolt, ...changes }),
    }) as const
  return [
    {
      ...truly('disclosed-by-the-recipient', 'The recipient shows the content.', 'proved'),
      capsule: showing(byBolt),
    },
    {
      ...truly(
        'disclosed-by-the-sender',
        'The sender shows the content, and had committed to its key.',
        'proved',
      ),
      capsule: showing(await disclose(acme, COMMITTED)),
    },
    {
      ...truly(
        'disclosed-by-the-sender-without-commitment',
        'The sender shows the content, and had committed to no key: it may have sealed two contents.',
        'claimed',
      ),
      capsule: showing(await disclose(acme, OPAQUE), OPAQUE),
    },
    {
      ...truly(
        'disclosed-by-the-recipient-without-commitment',
        'The recipient shows the content, and the sender had committed to no key.',
        'proved',
      ),
      capsule: showing(ofOther, OPAQUE),
    },
    {
      ...truly(
        'disclosed-under-a-revoked-key',
        'The sender shows the content, and signs that with a key that was revoked: a doubt.',
        'proved',
      ),
      capsule: showing(await signed(acme, retired)),
    },
    edited('disclosure-of-another-key', 'The disclosed key was edited.', {
      content_key: encodeBase64url(ANOTHER_KEY),
    }),
    edited('disclosure-without-a-key', 'The disclosed key is not base64url.', { content_key: '=' }),
    edited('disclosure-of-another-envelope', 'A space was added to the envelope.', {
      envelope: `${byBolt.envelope} `,
    }),
    edited('disclosure-by-a-stranger', 'The disclosing organization is no party of the package.', {
      disclosed_by: { ...byBolt.disclosed_by, organization_id: 'org_x' },
    }),
    edited('disclosure-in-another-name', 'The disclosure names another agent than the one that signed.', {
      disclosed_by: (await disclose(acme, COMMITTED)).disclosed_by,
    }),
    edited('disclosure-under-an-unknown-key', 'The disclosure names a key that the capsule does not show.', {
      signature: { ...byBolt.signature, key_id: 'key_x' },
    }),
    edited('disclosure-not-signed', 'A bit of the signature of the disclosing agent was flipped.', {
      signature: { ...byBolt.signature, signature: flipped(byBolt.signature.signature) },
    }),
    edited('disclosure-of-another-package', 'The disclosure of another package.', ofOther),
    {
      name: 'disclosure-that-does-not-open',
      description: 'The recipient signed a key under which the content does not open.',
      code: 'disclosure_content',
      capsule: showing(await signed(bolt, ofBolt, { content_key: encodeBase64url(ANOTHER_KEY) })),
    },
    {
      name: 'disclosure-of-a-short-key',
      description: 'The recipient signed a key of 16 bytes.',
      code: 'disclosure_content',
      capsule: showing(await signed(bolt, ofBolt, { content_key: encodeBase64url(new Uint8Array(16)) })),
    },
    {
      name: 'disclosure-of-other-content',
      description: 'The recipient signed the envelope of another package.',
      code: 'content_signature',
      capsule: showing(await signed(bolt, ofBolt, { envelope: ofOther.envelope })),
    },
    {
      name: 'disclosure-of-no-envelope',
      description: 'The recipient signed something that is no envelope.',
      code: 'content_signature',
      capsule: showing(await signed(bolt, ofBolt, { envelope: '{}' })),
    },
    {
      name: 'disclosure-sealed-for-other-metadata',
      description: 'The sender sealed the content for another package and signed it as this one.',
      code: 'disclosure_key',
      capsule: showing(await disclose(bolt, OTHER_METADATA), OTHER_METADATA),
    },
    {
      name: 'disclosure-committed-to-another-key',
      description: 'The sender committed to another key than the one that opens the content.',
      code: 'disclosure_key',
      capsule: showing(await disclose(bolt, OTHER_KEY), OTHER_KEY),
    },
  ]
}

function truly(name: string, description: string, disclosed: 'proved' | 'claimed') {
  return { name, description, level: 'witnessed', disclosed } as const
}

/** The disclosure as one of the agents signs it. */
async function signedBy(
  { identity, keys }: TestAgent,
  keyId: string,
  { envelope, content_key }: Disclosure,
  packageId: string,
): Promise<Disclosure> {
  const disclosedBy = { organization_id: identity.organizationId, agent_id: identity.agentId }
  const disclosed = { packageId, envelope, contentKey: decodeBase64url(content_key), disclosedBy }
  const signature = await signDisclosure(disclosed, { key: await keys.privateKey(keyId), keyId })
  return { envelope, content_key, disclosed_by: disclosedBy, signature }
}
