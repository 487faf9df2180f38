import { encodeBase64url, sha256Digest } from '@agent-exchange/crypto'
import {
  draftPackage,
  freshId,
  revocationBody,
  type Answer,
  type DraftOptions,
  type Organization,
  type PackageDraft,
  type Scene,
} from '@agent-exchange/testkit'
import type { ProblemCode } from '@agent-exchange/protocol'

type Submitted = 'createPackageTransfer' | 'createPackageResponse'
type Provoke = () => Promise<Answer>

/** For tests: requests that provoke each problem of a submitted package. */
export async function packageProblems(
  id: Submitted,
  { native, dataSpace }: { readonly native: Scene; readonly dataSpace: Scene },
): Promise<Partial<Record<ProblemCode, Provoke>>> {
  const isResponse = id === 'createPackageResponse'
  const partiesOf = ({ sender, recipient }: Scene) =>
    isResponse ? ([recipient, sender] as const) : ([sender, recipient] as const)
  const [from, to] = partiesOf(native)
  const contextOf = ({ standing: { metadata } }: Scene): DraftOptions =>
    isResponse ? { respondsTo: metadata.package_id, threadId: metadata.thread_id } : {}
  const path = ({ standing: { metadata } }: Scene) =>
    isResponse ? `/v1/packages/${metadata.package_id}/responses` : '/v1/packages'

  const draft = (options: DraftOptions = {}, by = from, receiver = to) =>
    draftPackage(by, receiver, { ...contextOf(native), ...options })
  const post = (body: unknown, at = path(native), by: Organization = from) => by.post(at, body)
  /** With its policy receipt. */
  const submit = async ({ receipt, body }: PackageDraft, at?: string, by: Organization = from) => {
    const accepted = await by.post('/v1/policy-receipts', receipt)
    if (accepted.status !== 201) throw new Error(accepted.text)
    return post(body, at, by)
  }
  const hoursAgo = (hours: number) =>
    new Date(Date.parse(from.world.clock.now()) - hours * 3_600_000).toISOString()
  const otherDigest = await sha256Digest(Buffer.from('other'))

  return {
    protocol_version_incompatible: async () =>
      submit(await draft({ metadata: { protocol_version: 'svc/9.9' } })),
    recipient_not_capable: async () =>
      submit(await draft({ metadata: { recipient_agent_id: freshId('agent') } })),
    package_expired: async () =>
      submit(await draft({ metadata: { created_at: hoursAgo(2), expires_at: hoursAgo(1) } })),
    transport_mode_mismatch: async () => submit(await draft({ dsx: { connectorId: 'none' } })),
    connector_not_approved: async () => {
      const [sender, recipient] = partiesOf(dataSpace)
      const options = { ...contextOf(dataSpace), dsx: { connectorId: 'none' } }
      return submit(await draftPackage(sender, recipient, options), path(dataSpace), sender)
    },
    envelope_invalid: async () =>
      post({ ...(await draft()).body, protected: encodeBase64url(Buffer.from('{"alg":"ES256"}')) }),
    signature_invalid: async () => {
      const [one, other] = [await draft(), await draft()]
      return post({ ...one.body, signature: Reflect.get(other.body, 'signature') as unknown })
    },
    signing_key_unusable: async () =>
      post((await draft({}, { ...from, signing: { ...from.signing, keyId: 'none' } })).body),
    encryption_key_unusable: async () =>
      submit(await draft({}, from, { ...to, encryption: { ...to.encryption, keyId: 'none' } })),
    digest_mismatch: async () => submit(await draft({ metadata: { content_digest: otherDigest } })),
    policy_receipt_missing: async () => post((await draft()).body),
    policy_receipt_ineligible: async () =>
      submit(await draft({ receipt: { human_approval: { required: true } } })),
    policy_receipt_mismatch: async () => submit(await draft({ receipt: { skill_id: 'other' } })),
    response_mismatch: async () => submit(await draft({ metadata: { responds_to_package_id: 'other' } })),
    identifier_conflict: async () => {
      const sent = await draft()
      await submit(sent)
      return post(sent.body)
    },
    ...(isResponse && {
      resource_not_found: async () => submit(await draft(), '/v1/packages/none/responses'),
      invalid_state_transition: async () => {
        const original = await draftPackage(to, from)
        const { package_id, thread_id } = original.metadata
        await submit(original, '/v1/packages', to)
        await to.post(`/v1/packages/${package_id}/revoke`, await revocationBody(to, original.metadata))
        const answer = await draft({ respondsTo: package_id, threadId: thread_id })
        return submit(answer, `/v1/packages/${package_id}/responses`)
      },
    }),
  }
}
