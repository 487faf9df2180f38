import { signPackageStatement } from '@agent-exchange/crypto'
import type { PackageResource, PackageRevocationResource } from '@agent-exchange/protocol'
import type { WithdrawalReport } from '../data-space/data-space-connector.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { readPages } from '../connection/read-pages.ts'
import { viaConnector, type DataSpace } from '../data-space/data-space.ts'

export interface RevokeInput {
  /** A short code; the recipient can read it in the evidence. */
  readonly reasonCode: string
  readonly reasonDetail: string
}

export interface RevokeDependencies {
  /** Required to withdraw a ds_x package from the connector. */
  readonly dataSpace?: DataSpace
  readonly signal?: AbortSignal
}

export interface RevokedPackage {
  readonly packageId: string
  readonly revocation: PackageRevocationResource
  /** True if an earlier call revoked it. */
  readonly alreadyRevoked: boolean
  /** What the connector withdrew, in ds_x. */
  readonly withdrawal?: WithdrawalReport
  /** Why the connector withdrew nothing. Calling again retries. */
  readonly withdrawalError?: ExchangeError
  /**
   * Whether the content can no longer be fetched: blocked by the exchange in native mode, by our data address in
   * ds_x. Content that was opened earlier cannot be recalled.
   */
  readonly futureAccessBlocked: boolean
}

/**
 * PKG-10: revokes an unopened package by a signed statement that is bound to it. The exchange decides whether an agent
 * may revoke a package of another agent of its organization (O-46). In ds_x the order is: exchange, data address,
 * offer, running transfers, asset. Repeating it is safe and completes what a crash interrupted.
 *
 * @example
 * const { futureAccessBlocked } = await revokePackage(context, 'pkg_1', { reasonCode: 'superseded', reasonDetail: 'A newer one follows.' })
 */
export async function revokePackage(
  context: AgentContext,
  packageId: string,
  input: RevokeInput,
  deps: RevokeDependencies = {},
): Promise<RevokedPackage> {
  const path = { package_id: packageId }
  const { signal } = deps
  await context.deployment.refresh()
  const resource = await context.connection.call('getPackage', { path, ...(signal && { signal }) })
  if (resource.metadata.sender_org_id !== context.identity.organizationId)
    throw new ExchangeError('package_not_for_us', {
      what: "Only the sender's organization may revoke a package.",
      details: { packageId },
    })
  const made =
    resource.state === 'revoked' ? undefined : await requestRevocation(context, packageId, input, signal)
  const revocation = made ?? (await recordedRevocation(context, packageId))
  const withdrawn = resource.transport_mode === 'ds_x' ? await withdraw(resource, deps) : undefined
  return {
    packageId,
    revocation,
    alreadyRevoked: made === undefined,
    futureAccessBlocked: withdrawn ? isBlocked(withdrawn) : revocation.future_access_blocked,
    ...withdrawn,
  }
}

/** Undefined if the package is already revoked. */
async function requestRevocation(
  context: AgentContext,
  packageId: string,
  { reasonCode, reasonDetail }: RevokeInput,
  signal: AbortSignal | undefined,
): Promise<PackageRevocationResource | undefined> {
  const body = {
    requested_at: context.now().toISOString(),
    reason_code: reasonCode,
    reason_detail: reasonDetail,
  }
  const signature = await signPackageStatement(body, { ...(await currentSigningKey(context)), packageId })
  try {
    return await context.connection.call('revokePackage', {
      path: { package_id: packageId },
      body: { ...body, signature },
      ...(signal && { signal }),
    })
  } catch (error) {
    const problem = error instanceof ExchangeError ? error.problem : undefined
    const { state } = (problem?.details ?? {}) as { state?: unknown }
    if (problem?.code === 'invalid_state_transition' && state === 'revoked') return undefined
    throw error
  }
}

/** The recorded revocation, read from the evidence. */
async function recordedRevocation(
  { connection, deployment: { profile } }: AgentContext,
  packageId: string,
): Promise<PackageRevocationResource> {
  const path = { package_id: packageId }
  const pages = readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } }))
  for await (const { entries, package: resource } of pages) {
    const entry = entries.find(({ proof, event }) => proof.kind === 'package_revoked' && event)
    if (!entry?.event) continue
    const isNative = resource.transport_mode === 'native'
    // The record may be later than the acceptance (O-43).
    const { accepted_at: acceptedAt, recorded_at } = entry.proof as {
      accepted_at?: string
      recorded_at: string
    }
    const { native_revocation_outcome, ds_x_revocation_outcome } = profile['O-34']
    return {
      package_id: packageId,
      state: 'revoked',
      revoked_at: acceptedAt ?? recorded_at,
      outcome: isNative ? native_revocation_outcome : ds_x_revocation_outcome,
      future_access_blocked: isNative,
      audit_event_id: entry.event.id,
    }
  }
  throw new ExchangeError('exchange_answer_unreadable', {
    what: 'The package is revoked, and its evidence does not say when.',
    details: { packageId },
  })
}

type Withdrawn = Pick<RevokedPackage, 'withdrawal' | 'withdrawalError'>

async function withdraw(
  { edc }: PackageResource,
  { dataSpace, signal }: RevokeDependencies,
): Promise<Withdrawn> {
  try {
    if (!dataSpace || !edc) throw new ExchangeError('connector_missing')
    const wait = signal ? { signal } : {}
    const withdrawal = await viaConnector(() => dataSpace.connector.withdraw(edc.asset_id, wait))
    return { withdrawal }
  } catch (error) {
    // The package is revoked. A failed withdrawal is reported in the result, not thrown.
    if (error instanceof ExchangeError) return { withdrawalError: error }
    throw error
  }
}

function isBlocked({ withdrawal }: Withdrawn): boolean {
  return withdrawal?.dataBlocked ?? false
}
