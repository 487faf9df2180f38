import { digestsEqual, readDetached, sha256Digest, verifyManifest } from '@agent-exchange/crypto'
import type { EdcReferences, PackageResource, Signature } from '@agent-exchange/protocol'
import type { Acquisition } from '../data-space/data-space-connector.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { signatureFailure } from './explain-signature.ts'
import { isNotFound } from '../connection/not-found.ts'
import { MAXIMUM_CONTENT_BYTES } from '../objects/content-limits.ts'
import type { OpenDependencies } from './open-input.ts'
import { requireParticipant, viaConnector, type DataSpace } from '../data-space/data-space.ts'

/** The bytes of the envelope, and how to end their transfer. */
export interface FetchedContent {
  readonly bytes: Uint8Array
  readonly finish: () => Promise<void>
}

/** Downloads the exact bytes in the mode of the thread. */
export function fetchContent(
  context: AgentContext,
  resource: PackageResource,
  deps: OpenDependencies,
): Promise<FetchedContent> {
  return resource.transport_mode === 'native'
    ? fetchNative(context, resource, deps)
    : fetchThroughConnector(context, resource, deps)
}

async function fetchNative(
  { connection }: AgentContext,
  { ciphertext_download_url: url, package_id: packageId }: PackageResource,
  { maximumBytes = MAXIMUM_CONTENT_BYTES, signal }: OpenDependencies,
): Promise<FetchedContent> {
  if (url === undefined)
    throw new ExchangeError('exchange_answer_unreadable', {
      what: 'A native package has no download address.',
    })
  try {
    const bytes = await connection.download(url, { maximumBytes, ...(signal && { signal }) })
    return { bytes, finish: async () => undefined }
  } catch (error) {
    if (isNotFound(error))
      throw new ExchangeError('content_unavailable', { details: { packageId }, cause: error })
    throw error
  }
}

/** PKG-03, in the order of the specification: the manifest, then the digest over the exact bytes. */
async function fetchThroughConnector(
  context: AgentContext,
  resource: PackageResource,
  deps: OpenDependencies,
): Promise<FetchedContent> {
  const { package_id: packageId, metadata, edc } = resource
  if (metadata.sender_agent_id === context.identity.agentId) return fromOutbox(resource, deps)
  const { dataSpace, signal } = deps
  if (!dataSpace) throw new ExchangeError('connector_missing')
  if (!edc)
    throw new ExchangeError('content_unavailable', {
      what: 'The exchange did not return the transfer references.',
      details: { packageId, reason: 'no_references' },
    })
  await requireManifest(context, resource, edc)
  const counterParty = await requireParticipant(dataSpace, metadata.sender_org_id)
  const wait = { ...(signal && { signal }) }
  const acquisition = await viaConnector(() =>
    dataSpace.connector.acquire(
      {
        packageId,
        assetId: edc.asset_id,
        counterParty,
        ...(dataSpace.acceptTerms && { acceptTerms: dataSpace.acceptTerms }),
      },
      wait,
    ),
  )
  const finish = () => finishQuietly(dataSpace, acquisition)
  try {
    const { maximumBytes = MAXIMUM_CONTENT_BYTES } = deps
    const bytes = await viaConnector(() => dataSpace.connector.fetch(acquisition, { ...wait, maximumBytes }))
    await requireAssetDigest(bytes, edc)
    return { bytes, finish }
  } catch (error) {
    // A retry resumes the transfer of a retryable failure; any other transfer is ended.
    if (!(error instanceof ExchangeError && error.retryable)) await finish()
    throw error
  }
}

async function requireManifest(
  context: AgentContext,
  { metadata, sender_signature: signature, transport_mode }: PackageResource,
  edc: EdcReferences,
): Promise<void> {
  const manifest = { transport_mode, metadata, edc, sender_signature: signature as Signature }
  const { key_id: keyId } = readSignature(manifest)
  const key = await context.peers.signingKey(metadata.sender_agent_id, keyId)
  await verifyManifest(manifest, key.publicKey).catch(async (cause: unknown) => {
    throw await signatureFailure(context, {
      what: 'The manifest of the transfer is not what the sender signed.',
      subject: { kind: 'manifest', object: manifest },
      key,
      cause,
    })
  })
}

function readSignature(manifest: object) {
  try {
    return readDetached(manifest, 'sender_signature')
  } catch (cause) {
    throw new ExchangeError('signature_invalid', { what: 'The manifest carries no signature.', cause })
  }
}

async function requireAssetDigest(bytes: Uint8Array, { asset_digest }: EdcReferences): Promise<void> {
  if (!digestsEqual(await sha256Digest(bytes), asset_digest))
    throw new ExchangeError('digest_mismatch', { details: { member: 'asset_digest', bytes: bytes.length } })
}

/** A sender cannot fetch its own asset, and reads its copy from the outbox. */
async function fromOutbox(
  { package_id: packageId, edc }: PackageResource,
  { outbox }: OpenDependencies,
): Promise<FetchedContent> {
  const entry = await outbox?.read(packageId)
  if (!entry) {
    const what = 'Content sent through a connector is only available in the outbox.'
    throw new ExchangeError('content_unavailable', { what, details: { packageId } })
  }
  const bytes = new TextEncoder().encode(entry.envelopeText)
  if (edc) await requireAssetDigest(bytes, edc)
  return { bytes, finish: async () => undefined }
}

/** The content is already processed, so a failure to end the transfer is ignored. */
async function finishQuietly({ connector }: DataSpace, acquisition: Acquisition): Promise<void> {
  await connector.finish(acquisition).catch(() => undefined)
}
