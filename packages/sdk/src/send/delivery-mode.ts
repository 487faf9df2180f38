import { encodeBase64url, parseDigest, sha256Digest, signManifest } from '@agent-exchange/crypto'
import type { AgentResource, DsxPackageBody, TransportMode } from '@agent-exchange/protocol'
import { isNotFound } from '../connection/not-found.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { requireParticipant, viaConnector } from '../data-space/data-space.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import type { Draft, SendDependencies } from './send-input.ts'

/** Bytes of the digest that distinguish the contents of one package. */
const ASSET_TAIL_BYTES = 12

/**
 * PKG-05: the mode of the thread. The exchange decides the mode of a new thread. The guess is ds_x if this agent has
 * a connector and the recipient accepts ds_x. If the guess is wrong, the exchange names the mode and we resend.
 */
export async function chooseTransport(
  { connection }: AgentContext,
  { threadId, to }: Draft,
  { transport_modes: modes }: AgentResource,
  { dataSpace, signal }: SendDependencies,
): Promise<TransportMode> {
  const known = await connection
    .call('getThread', { path: { thread_id: threadId }, query: { limit: 1 }, ...(signal && { signal }) })
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
  if (known?.transport_mode === 'ds_x' && !dataSpace) throw new ExchangeError('connector_missing')
  if (known) return known.transport_mode
  if (!dataSpace || !modes.includes('ds_x')) return 'native'
  return (await dataSpace.participant(to.organizationId)) ? 'ds_x' : 'native'
}

/** Publishes the exact envelope for the recipient at the connector. Returns the signed manifest. */
export async function publishEnvelope(
  context: AgentContext,
  { metadata, envelopeText, packageId }: OutboxEntry,
  { dataSpace, signal }: SendDependencies,
): Promise<string> {
  if (!dataSpace) throw new ExchangeError('connector_missing')
  const { participantId } = await requireParticipant(dataSpace, metadata.recipient_org_id)
  const bytes = new TextEncoder().encode(envelopeText)
  const digest = await sha256Digest(bytes)
  const request = {
    packageId,
    assetId: assetIdFor(packageId, digest),
    bytes,
    digest,
    recipientParticipantId: participantId,
  }
  const { assetId } = await viaConnector(() => dataSpace.connector.publish(request, signal ? { signal } : {}))
  const manifest = {
    transport_mode: 'ds_x' as const,
    metadata,
    edc: { connector_id: dataSpace.connector.connectorId, asset_id: assetId, asset_digest: digest },
  }
  const sender_signature = await signManifest(manifest, await currentSigningKey(context))
  return JSON.stringify({ ...manifest, sender_signature } satisfies DsxPackageBody)
}

/** Derived from package and bytes: a retry after a crash finds its asset, and other bytes get another id. */
function assetIdFor(packageId: string, digest: string): string {
  const tail = encodeBase64url(parseDigest(digest).subarray(0, ASSET_TAIL_BYTES))
  return `aex-${packageId}-${tail}`
}

/** Withdraws the asset of a package that the exchange refused. */
export async function withdrawEnvelope(
  { manifestText, transportMode }: OutboxEntry,
  { dataSpace }: SendDependencies,
): Promise<void> {
  if (transportMode !== 'ds_x' || manifestText === undefined || !dataSpace) return
  const { edc } = JSON.parse(manifestText) as DsxPackageBody
  // The caller needs the refusal, not this failure; an asset that remains offered is still sealed.
  await dataSpace.connector.withdraw(edc.asset_id).catch(() => undefined)
}
