import type { PackageResource, ProtocolObject, ReceiptResource } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { answerDifferences } from '../objects/answered-id.ts'
import { arrivalReader } from './arrival.ts'
import { contentDifferences } from '../objects/content-comparison.ts'
import { isOwnKeyFailure } from '../keys/own-key-failure.ts'
import { fetchContent, type FetchedContent } from './fetch-content.ts'
import { comparePeerView, watchLog } from '../log/watch-log.ts'
import { receiptFor } from './open-failures.ts'
import type { OpenDependencies, OpenedPackage } from './open-input.ts'
import { sendPackageReceipt } from './package-receipts.ts'
import { openContent, readEnvelope, requireIntegrity, requireSenderKey } from './verify-content.ts'
import { requirePolicyReceipt } from './verify-policy-receipt.ts'

/**
 * Opens a package: fetches it, verifies metadata, sender key, digest and signature in this order, decrypts,
 * validates, and compares the content with its metadata. A recipient then sends the signed receipts `received` and
 * `opened`. Meanwhile it demands that the transparency log continues what this agent saw of it. On a failure it sends a signed `rejected` or `failed` receipt before it throws the error. Safe to repeat:
 * a receipt is created once.
 *
 * @example
 * const { object, metadata } = await openPackage(context, 'pkg_1')
 * if (object.object_type === 'reasoning_package') console.log(metadata.sender_org_id, object.reasoning.summary)
 */
export async function openPackage(
  context: AgentContext,
  packageId: string,
  deps: OpenDependencies = {},
): Promise<OpenedPackage> {
  return open(context, packageId, deps, (object, resource) =>
    answerDifferences(object, resource.metadata.responds_to_package_id, (answered) =>
      readObjectId(context, answered, deps),
    ),
  )
}

/** Pointers to members of a response that contradict what it answers. */
type CompareAnswer = (object: ProtocolObject, resource: PackageResource) => Promise<string[]>

/** The id of the object inside a package; undefined where this agent cannot open it. Sends no receipt. */
export async function readObjectId(
  context: AgentContext,
  packageId: string,
  deps: OpenDependencies = {},
): Promise<string | undefined> {
  try {
    // What that one answers is not looked up in turn: chains of answers may be long.
    const { ids } = await open(context, packageId, { ...deps, receipts: 'none' }, async () => [])
    return ids.object
  } catch (error) {
    const isFinal = error instanceof ExchangeError && !error.retryable && error.code !== 'aborted'
    if (isFinal && !isOwnKeyFailure(error)) return undefined
    throw error
  }
}

async function open(
  context: AgentContext,
  packageId: string,
  deps: OpenDependencies,
  compareAnswer: CompareAnswer,
): Promise<OpenedPackage> {
  const { signal, receipts = 'opened', onProgress = () => undefined } = deps
  await context.deployment.refresh()
  const resource = await context.connection.call('getPackage', {
    path: { package_id: packageId },
    ...(signal && { signal }),
  })
  const isRecipient = requireParty(context, packageId, resource)
  const watched = watchLog(context)
  let fetched: FetchedContent | undefined
  try {
    fetched = await fetchContent(context, resource, deps)
    onProgress({ step: 'fetched', packageId })
    await watched
    const opened = await verifyAndOpen(context, resource, fetched.bytes, compareAnswer)
    const { object_type: objectType } = opened.object
    onProgress({ step: 'opened', packageId, objectType, keyId: opened.senderKey.keyId })
    const states = isRecipient && receipts !== 'none' ? (['received', 'opened'] as const) : []
    const sent: ReceiptResource[] = []
    for (const state of states.slice(0, receipts === 'received' ? 1 : 2)) {
      const receipt = await sendPackageReceipt(context, resource, state, signal)
      onProgress({ step: 'receipt', packageId, receipt })
      sent.push(receipt)
    }
    if (sent.length > 0) await requireNotRevokedMeanwhile(context, packageId, signal)
    return { ...opened, receipts: sent }
  } catch (error) {
    const state = receiptFor(error)
    if (state !== undefined && isRecipient && receipts !== 'none')
      throw await withReceiptSent(context, resource, error)
    throw error
  } finally {
    await fetched?.finish()
  }
}

/** PKG-07: true for the recipient, false for the sender, who may read what it sent. */
function requireParty({ identity }: AgentContext, packageId: string, resource: PackageResource): boolean {
  const { metadata } = resource
  const claims = [resource.package_id, metadata.package_id]
  if (claims.some((id) => id !== packageId))
    throw new ExchangeError('exchange_answer_unreadable', { what: 'The response is about another package.' })
  requireNotRevoked(resource)
  const isParty = (organizationId: string, agentId: string) =>
    organizationId === identity.organizationId && agentId === identity.agentId
  if (isParty(metadata.recipient_org_id, metadata.recipient_agent_id)) return true
  if (isParty(metadata.sender_org_id, metadata.sender_agent_id)) return false
  throw new ExchangeError('package_not_for_us', { details: { packageId } })
}

/** PKG-08: receipts of a revoked package are recorded, so they do not tell. Once opened, it cannot be revoked. */
async function requireNotRevokedMeanwhile(
  { connection }: AgentContext,
  packageId: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = { package_id: packageId }
  requireNotRevoked(await connection.call('getPackage', { path, ...(signal && { signal }) }))
}

function requireNotRevoked({ package_id: packageId, state }: PackageResource): void {
  if (state === 'revoked')
    throw new ExchangeError('content_unavailable', {
      what: 'The sender revoked the package.',
      details: { packageId, reason: 'revoked' },
    })
}

async function verifyAndOpen(
  context: AgentContext,
  resource: PackageResource,
  bytes: Uint8Array,
  compareAnswer: CompareAnswer,
): Promise<Omit<OpenedPackage, 'receipts'>> {
  requireConsistency(resource)
  const { metadata } = resource
  const envelope = readEnvelope(context, bytes, resource)
  const manifestKeyId = resource.sender_signature?.key_id
  const arrivals = arrivalReader(context, metadata, manifestKeyId ?? envelope.kid)
  const arrival = { stated: resource.created_at, proved: arrivals.packageAt }
  const senderKey = await requireSenderKey(context, envelope.kid, metadata, arrival)
  if (manifestKeyId !== undefined && manifestKeyId !== envelope.kid)
    await requireSenderKey(context, manifestKeyId, metadata, arrival)
  await requireIntegrity(context, envelope, resource, senderKey)
  const { object, checkpoint } = await openContent(context, envelope, metadata)
  const policyReceipt = await requirePolicyReceipt(context, metadata, arrivals)
  const rules = context.deployment.profile['O-35']
  const members = contentDifferences(object, metadata, policyReceipt.receipt, rules)
  members.push(...(await compareAnswer(object, resource)))
  if (members.length > 0) throw new ExchangeError('content_mismatch', { details: { members } })
  const logConflict = checkpoint === undefined ? undefined : await comparePeerView(context, checkpoint)
  return {
    object,
    resource,
    metadata,
    policyReceipt,
    ids: { package: metadata.package_id, object: object.id },
    createdAt: { package: metadata.created_at, object: object.created_at },
    writtenBy: authorOf(object),
    sentBy: { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id },
    senderKey,
    acceptedAt: resource.created_at,
    ...(logConflict && { logConflict }),
  }
}

function authorOf({ created_by: author }: ProtocolObject): OpenedPackage['writtenBy'] {
  const { organization_id: organizationId, agent_id: agentId, human_id: humanId } = author
  return { organizationId, agentId, ...(humanId !== undefined && { humanId }) }
}

/** The resource repeats members of the metadata. They must agree. */
function requireConsistency({ metadata, thread_id, transport_mode }: PackageResource): void {
  const members = [
    ...(metadata.thread_id === thread_id ? [] : ['thread_id']),
    ...(metadata.transport_mode === transport_mode ? [] : ['transport_mode']),
  ]
  if (members.length > 0)
    throw new ExchangeError('content_mismatch', {
      what: 'The exchange contradicts the metadata.',
      details: { members },
    })
}

/** Sends the receipt of a failure. Returns the error with its state, even if the receipt cannot be sent. */
async function withReceiptSent(
  context: AgentContext,
  resource: PackageResource,
  error: unknown,
): Promise<unknown> {
  const state = receiptFor(error)
  if (!(error instanceof ExchangeError) || state === undefined) return error
  const sent = await sendPackageReceipt(context, resource, state).then(
    () => true,
    () => false,
  )
  const { code, what, problem, failures, retryable, cause } = error
  return new ExchangeError(code, {
    ...(what !== undefined && { what }),
    details: { ...error.details, receipt: { state, sent } },
    failures,
    retryable,
    ...(problem && { problem }),
    ...(cause !== undefined && { cause }),
  })
}
