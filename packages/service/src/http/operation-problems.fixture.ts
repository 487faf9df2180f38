import { generateKeyPair } from '@agent-exchange/crypto'
import type { OperationId, ProblemCode } from '@agent-exchange/protocol'
import {
  addKey,
  draftPackage,
  freshId,
  receiptBody,
  revocationBody,
  revokeKey,
  sendPackage,
  type Answer,
  type Scene,
} from '@agent-exchange/testkit'

type Provoke = () => Promise<Answer>
type Problems = Partial<Record<ProblemCode, Provoke>>

const UNKNOWN_IN_PATH = 'none'

/** For tests: requests that provoke the problems of each operation, other than those of submitted packages. */
export function operationProblems(scene: Scene): Partial<Record<OperationId, Problems>> {
  const { sender, recipient, standing } = scene
  const { metadata } = standing
  const ofSender = `/v1/agents/${sender.agentId}`
  const newKey = async (change: object = {}) => ({
    key_id: freshId('key'),
    use: 'signing',
    format: 'jwk',
    public_key: { ...(await generateKeyPair('signing')).publicKey.jwk },
    valid_from: '2026-01-01T00:00:00Z',
    ...change,
  })
  const register = (keys: object[], change: object = {}) =>
    sender.post('/v1/agents/register', {
      ...sender.registration(),
      agent_id: freshId('agent'),
      keys,
      ...change,
    })
  const addOne = (key: object) => sender.post(`${ofSender}/keys`, key)
  const withPrivateMember = async () => {
    const key = await newKey()
    return { ...key, public_key: { ...key.public_key, d: 'AAAA' } }
  }
  const offTheCurve = async () => {
    const key = await newKey()
    return { ...key, public_key: { ...key.public_key, y: key.public_key.x } }
  }
  const missing = (path: string): Problems => ({ resource_not_found: () => sender.get(path) })
  const badCursor = (path: string): Problems => ({ cursor_invalid: () => sender.get(`${path}?after=none`) })

  /** Signed statements of the recipient or sender about a package. */
  const receiptAt = async (about: typeof metadata, body: object) =>
    recipient.post(`/v1/packages/${about.package_id}/receipts`, body)
  const revokeAt = async (about: typeof metadata, body: object) =>
    sender.post(`/v1/packages/${about.package_id}/revoke`, body)
  const unknownKey = (body: object) => ({
    ...body,
    signature: { ...(Reflect.get(body, 'signature') as object), key_id: 'none' },
  })

  return {
    registerAgent: {
      private_key_refused: async () => register([await withPrivateMember()]),
      public_key_invalid: async () => register([await offTheCurve()]),
      key_not_distinct: async () => {
        const key = await newKey()
        return register([key, { ...key, key_id: freshId('key') }])
      },
      identifier_conflict: async () => register([await newKey()], { agent_id: sender.agentId }),
      invalid_state_transition: async () => {
        const first = await newKey()
        const successor = () => newKey({ replaces_key_id: first.key_id })
        return register([first, await successor(), await successor()])
      },
    },
    getAgent: missing(`/v1/agents/${UNKNOWN_IN_PATH}`),
    registerAgentKey: {
      resource_not_found: async () => sender.post(`/v1/agents/${UNKNOWN_IN_PATH}/keys`, await newKey()),
      private_key_refused: async () => addOne(await withPrivateMember()),
      public_key_invalid: async () => addOne(await offTheCurve()),
      key_not_distinct: async () => {
        const key = await newKey()
        return addOne({ ...key, replaces_key_id: key.key_id })
      },
      identifier_conflict: async () => addOne(await newKey({ key_id: sender.signing.keyId })),
      invalid_state_transition: async () => {
        const { keyId } = await addKey(sender, 'signing')
        await addOne(await newKey({ replaces_key_id: keyId }))
        return addOne(await newKey({ replaces_key_id: keyId }))
      },
    },
    revokeAgentKey: {
      resource_not_found: () => revokeKey(sender, UNKNOWN_IN_PATH, sender.world.clock.now()),
      invalid_state_transition: async () => {
        const { keyId } = await addKey(sender, 'signing')
        await revokeKey(sender, keyId, '2026-02-01T00:00:00Z')
        return revokeKey(sender, keyId, '2026-03-01T00:00:00Z')
      },
    },
    listSkillReleases: badCursor('/v1/skills'),
    getSkillRelease: missing('/v1/skills/none/releases/none'),
    getAgentKeys: missing('/v1/directory/agents/none/keys'),
    createPolicyReceipt: {
      signature_invalid: async () =>
        sender.post('/v1/policy-receipts', {
          ...(await draftPackage(sender, recipient)).receipt,
          statement: 'Another one.',
        }),
      signing_key_unusable: async () =>
        sender.post('/v1/policy-receipts', unknownKey((await draftPackage(sender, recipient)).receipt)),
      identifier_conflict: async () => {
        const { receipt } = await draftPackage(sender, recipient)
        await sender.post('/v1/policy-receipts', receipt)
        return sender.post('/v1/policy-receipts', receipt)
      },
    },
    getPolicyReceipt: missing('/v1/policy-receipts/none'),
    getPackage: missing('/v1/packages/none'),
    createPackageReceipt: {
      resource_not_found: async () => {
        const other = { ...metadata, package_id: UNKNOWN_IN_PATH }
        return receiptAt(other, await receiptBody(recipient, other, 'received'))
      },
      signature_invalid: async () =>
        receiptAt(metadata, { ...(await receiptBody(recipient, metadata, 'received')), state: 'failed' }),
      signing_key_unusable: async () =>
        receiptAt(metadata, unknownKey(await receiptBody(recipient, metadata, 'received'))),
      signature_reused: async () => {
        const plain = await receiptBody(recipient, metadata, 'failed', { form: 'plain' })
        await receiptAt(metadata, plain)
        const payload = String(Reflect.get(standing.body, 'payload'))
        const { jwe } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jwe: object }
        const twin = await sendPackage(sender, recipient, { reseal: () => jwe })
        return receiptAt(twin.metadata, plain)
      },
      digest_mismatch: async () => {
        const other = (await draftPackage(sender, recipient)).metadata
        const change = { package_digest: other.content_digest }
        return receiptAt(metadata, await receiptBody(recipient, metadata, 'received', { change }))
      },
      identifier_conflict: async () => {
        const change = { receipt_id: freshId('rcpt') }
        await receiptAt(metadata, await receiptBody(recipient, metadata, 'received', { change }))
        return receiptAt(metadata, await receiptBody(recipient, metadata, 'failed', { change }))
      },
    },
    revokePackage: {
      resource_not_found: async () => {
        const other = { ...metadata, package_id: UNKNOWN_IN_PATH }
        return revokeAt(other, await revocationBody(sender, other))
      },
      signature_invalid: async () =>
        revokeAt(metadata, { ...(await revocationBody(sender, metadata)), reason_code: 'other' }),
      signing_key_unusable: async () =>
        revokeAt(metadata, unknownKey(await revocationBody(sender, metadata))),
      signature_reused: async () => {
        const [first, second] = [await sendPackage(sender, recipient), await sendPackage(sender, recipient)]
        const plain = await revocationBody(sender, first.metadata, { form: 'plain' })
        await revokeAt(first.metadata, plain)
        return revokeAt(second.metadata, plain)
      },
      invalid_state_transition: async () => {
        const sent = await sendPackage(sender, recipient)
        await revokeAt(sent.metadata, await revocationBody(sender, sent.metadata))
        return revokeAt(sent.metadata, await revocationBody(sender, sent.metadata))
      },
    },
    getThread: { ...missing('/v1/threads/none'), ...badCursor(`/v1/threads/${metadata.thread_id}`) },
    listNotifications: badCursor('/v1/notifications'),
    acknowledgeNotification: {
      resource_not_found: async () => {
        const { body } = await scene.make('acknowledgeNotification')
        return sender.post('/v1/notifications/none/ack', body)
      },
      acknowledgement_mismatch: async () => {
        const { path, body } = await scene.make('acknowledgeNotification')
        return sender.post(path, { ...body, event_id: 'evt_other' })
      },
    },
    getThreadAuditEvidence: {
      ...missing('/v1/audit/threads/none'),
      ...badCursor(`/v1/audit/threads/${metadata.thread_id}`),
    },
    getPackageAuditEvidence: {
      ...missing('/v1/audit/packages/none'),
      ...badCursor(`/v1/audit/packages/${metadata.package_id}`),
    },
  }
}
