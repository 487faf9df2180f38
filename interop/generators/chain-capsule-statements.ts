import { signPackageStatement, signPolicyReceipt, type SigningKey } from '@agent-exchange/crypto'
import type { PolicyReceipt } from '@agent-exchange/protocol'
import { signAsPlatform } from '@agent-exchange/testkit'
import type { TestAgent } from '../../packages/sdk/src/agents.fixture.ts'
import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { asTransfer } from './chain-capsule-transfer.ts'
import { changed, entryOf, packageOf, type MutableCapsule } from './change-capsule.ts'
import { flipped } from './vectors.ts'

type Signed = { signature: { key_id: string; algorithm: 'ES256'; signature: string } }
type Change = (copy: MutableCapsule) => unknown
type Forgery = readonly [name: string, description: string, change: Change, code: string]

/** Positions: a package of bolt that acme opened, and one of acme that it revoked. */
const [SENT_BY_BOLT, REVOKED] = [3, 2]
const flip = (statement: unknown) => {
  const { signature } = statement as Signed
  signature.signature = flipped(signature.signature)
}

/** The exchange records and logs statements that nobody signed so. */
export async function forgedStatements(story: ChainStory): Promise<ChangedCapsule[]> {
  const { capsule, log } = story
  const transfer = await asTransfer(story)
  const forged: ChangedCapsule[] = []
  const tables = [
    [capsule, [...ofAcceptance(story), ...ofPolicy(story), ...ofReceipts(story), ...ofEntries()]],
    [transfer, ofTransfers()],
  ] as const
  for (const [original, forgeries] of tables)
    for (const [name, description, change, code] of forgeries) {
      const copy = changed(original)
      await change(copy)
      forged.push({ name, description, code, capsule: await log(copy, {}) })
    }
  return forged
}

const signingKey = async (agent: TestAgent, keyId: string): Promise<SigningKey> => ({
  key: await agent.keys.privateKey(keyId),
  keyId,
})

function ofAcceptance({ world }: ChainStory): Forgery[] {
  const restate = async (copy: MutableCapsule, change: (statement: Record<string, unknown>) => unknown) => {
    const { proof } = entryOf(copy, SENT_BY_BOLT, 2)
    const { signature: _, ...statement } = proof['acceptance'] as Record<string, unknown>
    change(statement)
    proof['acceptance'] = { ...statement, signature: await signAsPlatform(world, statement) }
  }
  return [
    [
      'acceptance-not-signed',
      'The platform did not sign the acceptance.',
      (c) => flip(entryOf(c, SENT_BY_BOLT, 2).proof['acceptance']),
      'acceptance_signature',
    ],
    [
      'acceptance-missing',
      'The acceptance has no statement of the platform.',
      (c) => Reflect.deleteProperty(entryOf(c, SENT_BY_BOLT, 2).proof, 'acceptance'),
      'acceptance_signature',
    ],
    [
      'acceptance-of-another-package',
      'The platform accepted a package with another id.',
      (c) => restate(c, (statement) => (statement['package_id'] = 'pkg_x')),
      'acceptance_subject',
    ],
    [
      'accepted-under-a-key-of-another',
      'The platform accepted the package under a key of its recipient.',
      (c) =>
        restate(c, (statement) => {
          const { key_id } = packageOf(c, 0).policy_receipt.signature
          Object.assign(statement, { signing_key_id: key_id })
          entryOf(c, SENT_BY_BOLT, 2).proof['signing_key_id'] = key_id
        }),
      'acceptance_key',
    ],
    [
      'accepted-under-a-revoked-key',
      'The key of the sender was revoked, and the revocation recorded, before the package.',
      (c) => {
        const keyId = packageOf(c, SENT_BY_BOLT).policy_receipt.signature.key_id
        const own = c.log.key_events.filter(
          ({ agent_id }) => agent_id === c.keys.find((k) => k.key_id === keyId)?.agent_id,
        )
        const [registered, last] = [own.find(({ key_id }) => key_id === keyId), own.at(-1)]
        if (!registered || !last) throw new Error('the key has no events')
        const { valid_from } = registered
        const revoked = { kind: 'revoked', invalid_from: valid_from, recorded_at: valid_from }
        c.log.key_events.push({ ...registered, ...revoked, number: last.number + 1, proof: last.proof })
      },
      'acceptance_key',
    ],
    [
      'accepted-before-the-key',
      'The key of the sender became valid after the package was accepted.',
      (c) => {
        const keyId = packageOf(c, SENT_BY_BOLT).policy_receipt.signature.key_id
        for (const event of c.log.key_events)
          if (event.key_id === keyId) event.valid_from = '2036-01-01T00:00:00.000Z'
      },
      'acceptance_key',
    ],
  ]
}

function ofPolicy({ bolt }: ChainStory): Forgery[] {
  const resign = async (copy: MutableCapsule, change: (receipt: PolicyReceipt) => unknown) => {
    const shown = packageOf(copy, SENT_BY_BOLT)
    change(shown.policy_receipt)
    const { signature, ...receipt } = shown.policy_receipt
    shown.policy_receipt.signature = await signPolicyReceipt(
      receipt,
      await signingKey(bolt, signature.key_id),
    )
    entryOf(copy, SENT_BY_BOLT, 1).proof['signature'] = shown.policy_receipt.signature
  }
  return [
    [
      'policy-receipt-not-signed',
      'The sender did not sign the policy receipt.',
      (c) => {
        flip(packageOf(c, SENT_BY_BOLT).policy_receipt)
        flip(entryOf(c, SENT_BY_BOLT, 1).proof)
      },
      'policy_receipt_signature',
    ],
    [
      'policy-receipt-for-another-skill',
      'The sender signed a policy receipt for another version of the skill.',
      (c) => resign(c, (receipt) => Object.assign(receipt, { skill_version: '9.9.9' })),
      'policy_receipt_subject',
    ],
    [
      'policy-evaluated-after-the-package',
      'The sender signed a policy receipt that is later than the package.',
      (c) =>
        resign(c, (receipt) => {
          const created = Date.parse(packageOf(c, SENT_BY_BOLT).metadata.created_at)
          return Object.assign(receipt, { evaluated_at: new Date(created + 1).toISOString() })
        }),
      'policy_receipt_subject',
    ],
    [
      'policy-check-failed',
      'A check of the policy receipt did not pass.',
      (c) => resign(c, ({ checks: [check] }) => Object.assign(check ?? {}, { outcome: 'failed' })),
      'policy_receipt_eligible',
    ],
    [
      'approval-missing',
      'The policy receipt requires an approval, and has none.',
      (c) => resign(c, (receipt) => Object.assign(receipt, { human_approval: { required: true } })),
      'policy_receipt_eligible',
    ],
  ]
}

function ofReceipts({ bolt }: ChainStory): Forgery[] {
  return [
    [
      'receipt-not-signed',
      'The recipient did not sign the receipt.',
      (c) => flip(entryOf(c, SENT_BY_BOLT, 7).proof),
      'receipt_signature',
    ],
    [
      'receipt-unsigned',
      'A receipt has no signature.',
      (c) => Reflect.deleteProperty(entryOf(c, SENT_BY_BOLT, 7).proof, 'signature'),
      'receipt_signature',
    ],
    [
      'receipt-by-the-sender',
      'The sender signed the receipt itself.',
      async (c) => {
        const { proof } = entryOf(c, SENT_BY_BOLT, 7)
        const { metadata, policy_receipt } = packageOf(c, SENT_BY_BOLT)
        proof['actor_agent_id'] = metadata.sender_agent_id
        const { receipt_id, occurred_at, actor_agent_id, package_digest } = proof
        const body = { receipt_id, occurred_at, actor_agent_id, package_digest, state: 'opened' }
        const signer = await signingKey(bolt, policy_receipt.signature.key_id)
        proof['signature'] = await signPackageStatement(body, { ...signer, packageId: metadata.package_id })
      },
      'receipt_signature',
    ],
    [
      'receipt-copied',
      'A receipt is recorded a second time.',
      (c) => {
        const { state: _, implied_states: __, ...proof } = entryOf(c, SENT_BY_BOLT, 6).proof
        entryOf(c, SENT_BY_BOLT, 7).proof = proof
      },
      'receipt_signature',
    ],
    [
      'receipt-of-other-content',
      'A receipt names the digest of other content.',
      (c) => (entryOf(c, SENT_BY_BOLT, 7).proof['package_digest'] = packageOf(c, 0).metadata.content_digest),
      'receipt_signature',
    ],
    [
      'receipt-unknown',
      'A receipt of a kind that does not exist.',
      (c) => (entryOf(c, SENT_BY_BOLT, 7).proof.kind = 'receipt_lost'),
      'receipt_signature',
    ],
    [
      'revocation-not-signed',
      'The sender did not sign the revocation.',
      (c) => flip(entryOf(c, REVOKED, 5).proof),
      'revocation_signature',
    ],
    [
      'revocation-by-the-recipient',
      'The recipient signed the revocation.',
      async (c) => {
        const { proof } = entryOf(c, REVOKED, 5)
        const { requested_at, reason_code, reason_detail } = proof
        const signer = await signingKey(bolt, packageOf(c, SENT_BY_BOLT).policy_receipt.signature.key_id)
        const packageId = packageOf(c, REVOKED).metadata.package_id
        const body = { requested_at, reason_code, reason_detail }
        proof['signature'] = await signPackageStatement(body, { ...signer, packageId })
      },
      'revocation_signature',
    ],
  ]
}

function ofEntries(): Forgery[] {
  return [
    [
      'response-that-answers-nothing',
      'A package is recorded as the response that does not say so.',
      (c) => {
        const { metadata } = packageOf(c, SENT_BY_BOLT)
        const { proof } = entryOf(c, 0, 7)
        Object.assign(proof, {
          response_package_id: metadata.package_id,
          content_digest: metadata.content_digest,
          acceptance: entryOf(c, SENT_BY_BOLT, 2).proof['acceptance'],
        })
      },
      'response_package',
    ],
    [
      'response-not-recorded',
      'A package answers another one, whose chain does not record it.',
      (c) => {
        packageOf(c, 0).entries.pop()
        packageOf(c, 0).records.pop()
      },
      'response_recorded',
    ],
    [
      'entry-of-other-content',
      'An entry names the digest of other content.',
      (c) => (entryOf(c, 0, 3).proof['content_digest'] = packageOf(c, 1).metadata.content_digest),
      'entry_repeats_signed',
    ],
    [
      'event-of-another-actor',
      'The audit event of a receipt names another organization than the one that signed.',
      (c) => Object.assign(entryOf(c, 0, 5).event?.actor ?? {}, { organization_id: 'org_x' }),
      'entry_repeats_signed',
    ],
    [
      'event-of-another-package',
      'The audit event of a receipt names another package.',
      (c) => Object.assign(entryOf(c, 0, 5).event?.target ?? {}, { object_id: 'pkg_x' }),
      'entry_repeats_signed',
    ],
    [
      'opened-without-a-receipt',
      'The exchange says that the content was opened, and nobody signed it.',
      (c) =>
        Object.assign(entryOf(c, 0, 4).proof, { state: 'opened', implied_states: ['delivered', 'received'] }),
      'entry_state',
    ],
    [
      'states-skipped',
      'A receipt passes other states than those in between.',
      (c) => (entryOf(c, 0, 5).proof['implied_states'] = ['opened']),
      'entry_state',
    ],
    [
      'accepted-and-delivered',
      'The acceptance leads to a state that only later events lead to.',
      (c) => (entryOf(c, 0, 2).proof['states'] = ['accepted', 'encrypted_available', 'delivered']),
      'entry_state',
    ],
  ]
}

const edcOf = (c: MutableCapsule) => packageOf(c, REVOKED).edc

function ofTransfers(): Forgery[] {
  return [
    [
      'manifest-not-signed',
      'The sender signed a manifest with another asset.',
      (c) => Object.assign(edcOf(c) ?? {}, { asset_id: 'asset_2' }),
      'manifest_signature',
    ],
    [
      'manifest-in-half',
      'The manifest of a transfer lacks its signature.',
      (c) => delete packageOf(c, REVOKED).sender_signature,
      'manifest_signature',
    ],
    [
      'manifest-of-a-native-package',
      'A native package has references to a transfer.',
      (c) => (packageOf(c, 0).edc = edcOf(c) as never),
      'manifest_signature',
    ],
    [
      'manifest-under-another-key',
      'The platform accepted the manifest under another key than the one that signed it.',
      (c) =>
        Object.assign(packageOf(c, REVOKED).sender_signature ?? {}, {
          key_id: packageOf(c, 0).policy_receipt.signature.key_id,
        }),
      'manifest_key',
    ],
  ]
}
