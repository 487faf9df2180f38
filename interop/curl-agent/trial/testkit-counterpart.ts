import assert from 'node:assert/strict'
import {
  importPublicJwk,
  matchContentDigest,
  openPackage,
  parseEnvelope,
  parseStrictJson,
  verifyEnvelope,
  type PublicKey,
} from '@agent-exchange/crypto'
import {
  validateObject,
  type PackageMetadata,
  type PackageResource,
  type PublicKey as DirectoryKey,
  type ReasoningPackage,
  type ResponseObject,
} from '@agent-exchange/protocol'
import { freshId, sendPackage, sendReceipt, type Organization, type World } from '@agent-exchange/testkit'
import { answerTo, packageFor, type Counterpart, type Party } from './counterpart.ts'

const HOUR_MS = 3_600_000

/** An agent of the testkit, which performs each step with the packages of this project. */
export async function testkitCounterpart(
  world: World,
): Promise<Counterpart & { organization: Organization }> {
  const organization = await world.organization('cars')
  return {
    name: 'testkit',
    organization,
    organizationId: organization.organizationId,
    agentId: organization.agentId,
    open: (packageId) => open(organization, packageId),
    async send(to) {
      const object = packageFor(organization, to, world.clock.now())
      await seal(organization, to, object)
      return object
    },
    async respond(packageId, threadId) {
      const to = (await resourceOf(organization, packageId)).metadata
      // Created an hour before it is sealed, with its own id.
      const writtenAt = new Date(Date.parse(world.clock.now()) - HOUR_MS).toISOString()
      const object = answerTo(packageId, threadId, organization, writtenAt)
      const sender = { organizationId: to.sender_org_id, agentId: to.sender_agent_id }
      return { packageId: await seal(organization, sender, object), object }
    },
  }
}

/** Seals an object for an agent by its directory entry, sends it, and returns the package id. */
export async function seal(
  from: Organization,
  to: Party,
  object: ReasoningPackage | ResponseObject,
  { sealFor }: { readonly sealFor?: PublicKey } = {},
): Promise<string> {
  const encryption = (await directoryOf(from, to.agentId)).find(({ use }) => use === 'encryption')
  assert.ok(encryption)
  const publicKey = sealFor ?? (await importPublicJwk(encryption.public_key, { use: 'encryption' }))
  const recipient = {
    ...from,
    ...to,
    encryption: { keyId: encryption.key_id, pair: { ...from.encryption.pair, publicKey } },
  }
  const answers = object.object_type === 'response_object'
  const packageId = answers ? freshId('pkg') : object.id
  await sendPackage(from, recipient, {
    plaintext: Buffer.from(JSON.stringify(object)),
    threadId: object.thread_id,
    ...(answers && { respondsTo: object.responds_to_package_id }),
    metadata: { package_id: packageId, ...(!answers && { created_at: object.created_at }) },
    receipt: { policy_id: object.policy_envelope.policy_id },
  })
  return packageId
}

async function open(by: Organization, packageId: string): Promise<Record<string, unknown>> {
  const { metadata, ciphertext_download_url: address } = await resourceOf(by, packageId)
  const content = await by.get(address ?? '')
  assert.equal(content.status, 200, content.text)
  const envelope = parseEnvelope(content.text)
  const keys = await directoryOf(by, metadata.sender_agent_id)
  const key = keys.find(({ key_id, use }) => key_id === envelope.kid && use === 'signing')
  assert.ok(key)
  await verifyEnvelope(envelope, await importPublicJwk(key.public_key, { use: 'signing' }))
  assert.deepEqual(envelope.metadata, metadata)
  assert.equal(await matchContentDigest(envelope, metadata.content_digest), 'jcs-jwe')
  await receipt(by, metadata, 'received')
  const { keyId, pair } = by.encryption
  const { plaintext } = await openPackage(envelope.jwe, { kid: keyId, privateKey: pair.privateKey })
  const object = parseStrictJson(plaintext) as Record<string, unknown>
  assert.deepEqual(validateObject(object).failures, [])
  assert.equal(object['thread_id'], metadata.thread_id)
  await receipt(by, metadata, 'opened')
  return object
}

async function receipt(by: Organization, metadata: PackageMetadata, state: string): Promise<void> {
  const answer = await sendReceipt(by, metadata, state)
  assert.equal(answer.status, 201, answer.text)
}

async function resourceOf(by: Organization, packageId: string): Promise<PackageResource> {
  const answer = await by.get(`/v1/packages/${packageId}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as unknown as PackageResource
}

async function directoryOf(by: Organization, agentId: string): Promise<DirectoryKey[]> {
  const answer = await by.get(`/v1/directory/agents/${agentId}/keys`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body['keys'] as DirectoryKey[]
}
