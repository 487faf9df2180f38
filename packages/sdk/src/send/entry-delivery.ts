import { parseEnvelope } from '@agent-exchange/crypto'
import { differingMembers } from '@agent-exchange/log'
import type { PolicyReceipt, TransportMode } from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { MAXIMUM_DEPTH } from '../objects/content-limits.ts'
import { MAXIMUM_MOVES } from './send-limits.ts'
import type { OutboxChange, OutboxEntry } from '../outbox/outbox.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { isFinal, requiredMode } from './refusals.ts'
import { envelopeTextOf } from './seal-draft.ts'
import type { SendDependencies, SendStep } from './send-input.ts'
import { publishEnvelope, withdrawEnvelope } from './delivery-mode.ts'

/**
 * Delivers an entry: receipt, then (ds_x) asset, then package. Every request sends stored bytes under a stored
 * idempotency key, so calling it again after a crash is safe.
 */
export async function deliverEntry(
  context: AgentContext,
  start: OutboxEntry,
  deps: SendDependencies,
): Promise<OutboxEntry> {
  let entry = start
  for (let moves = 0; moves < MAXIMUM_MOVES; moves++) {
    if (entry.state === 'accepted') return entry
    if (entry.state === 'refused') throw refusedBefore(entry)
    const before = entry.state
    entry = await moveOn(context, entry, deps)
    if (entry.state !== before && isStep(entry.state)) report(deps, entry, entry.state)
  }
  throw new ExchangeError('outbox_conflict', {
    what: 'Concurrent senders keep changing the same outbox entry.',
    details: { packageId: entry.packageId },
  })
}

export function report(
  { onProgress }: SendDependencies,
  { packageId }: { packageId: string },
  step: SendStep,
): void {
  onProgress?.({ step, packageId })
}

function isStep(state: OutboxEntry['state']): state is 'receipt_accepted' | 'published' | 'accepted' {
  return state !== 'sealed' && state !== 'refused'
}

function refusedBefore({ packageId, problem }: OutboxEntry): ExchangeError {
  const what = 'The exchange refused the package earlier. Send it again with its object.'
  return new ExchangeError('exchange_refused', { what, details: { packageId, problem } })
}

async function moveOn(
  context: AgentContext,
  entry: OutboxEntry,
  deps: SendDependencies,
): Promise<OutboxEntry> {
  const keep = (change: Omit<OutboxChange, 'updatedAt'>) =>
    deps.outbox.advance(entry, { ...change, updatedAt: context.now().toISOString() })
  try {
    if (entry.state === 'sealed') {
      await postReceipt(context, entry, deps)
      return await keep({ state: 'receipt_accepted' })
    }
    if (entry.state === 'receipt_accepted' && entry.transportMode === 'ds_x') {
      return await keep({ state: 'published', manifestText: await publishEnvelope(context, entry, deps) })
    }
    await postPackage(context, entry, deps)
    return await keep({ state: 'accepted' })
  } catch (error) {
    const mode = requiredMode(error)
    if (mode !== undefined && mode !== entry.transportMode)
      return keep(await inOtherMode(context, entry, mode, deps))
    if (isFinal(error)) {
      await keep({ state: 'refused', problem: error.problem?.code ?? error.code })
      await withdrawEnvelope(entry, deps)
    }
    throw error
  }
}

async function postReceipt({ connection }: AgentContext, entry: OutboxEntry, { signal }: SendDependencies) {
  try {
    await connection.call('createPolicyReceipt', {
      bodyText: entry.receiptText,
      idempotencyKey: entry.receiptKey,
      ...(signal && { signal }),
    })
  } catch (error) {
    if (!isIdentifierConflict(error)) throw error
    // The exchange may have dropped the idempotency record; then this receipt already has the id.
    const sent = JSON.parse(entry.receiptText) as PolicyReceipt
    const kept = await connection
      .call('getPolicyReceipt', { path: { policy_receipt_id: sent.policy_receipt_id } })
      .catch(() => undefined)
    if (!kept || differingMembers(kept.receipt, sent).length > 0) throw error
  }
}

async function postPackage({ connection }: AgentContext, entry: OutboxEntry, { signal }: SendDependencies) {
  const { metadata, packageId } = entry
  const request = {
    bodyText: bodyTextOf(entry),
    idempotencyKey: entry.packageKey,
    ...(signal && { signal }),
  }
  const { responds_to_package_id: original } = metadata
  try {
    if (original === undefined) await connection.call('createPackageTransfer', request)
    else await connection.call('createPackageResponse', { ...request, path: { package_id: original } })
  } catch (error) {
    if (!isIdentifierConflict(error)) throw error
    const kept = await connection
      .call('getPackage', { path: { package_id: packageId } })
      .catch(() => undefined)
    if (!kept || differingMembers(kept.metadata, metadata).length > 0) throw error
  }
}

/** In ds_x the exchange gets the manifest, and the connector the envelope. */
function bodyTextOf({ transportMode, manifestText, envelopeText }: OutboxEntry): string {
  return transportMode === 'ds_x' && manifestText !== undefined ? manifestText : envelopeText
}

/** The mode is not part of the sealed content: receipt and content stay, envelope and idempotency key change. */
async function inOtherMode(
  context: AgentContext,
  entry: OutboxEntry,
  transportMode: TransportMode,
  deps: SendDependencies,
): Promise<Omit<OutboxChange, 'updatedAt'>> {
  if (transportMode === 'ds_x' && !deps.dataSpace) throw new ExchangeError('connector_missing')
  await withdrawEnvelope(entry, deps)
  const { content_type: contentType } = entry.metadata
  const { jwe } = parseEnvelope(entry.envelopeText, {
    contentTypes: [contentType],
    maxDepth: MAXIMUM_DEPTH,
  })
  const metadata = { ...entry.metadata, transport_mode: transportMode }
  return {
    state: 'receipt_accepted',
    transportMode,
    metadata,
    envelopeText: await envelopeTextOf({ metadata, jwe }, await currentSigningKey(context)),
    packageKey: randomId('idem'),
  }
}

function isIdentifierConflict(error: unknown): boolean {
  return error instanceof ExchangeError && error.problem?.code === 'identifier_conflict'
}
