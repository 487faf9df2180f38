import type {
  AcquireRequest,
  Acquisition,
  FetchOptions,
  PublishedAsset,
  PublishRequest,
  WaitOptions,
  WithdrawalReport,
} from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { requireId } from '../derived-ids.ts'
import { LIMITS } from '../connector-limits.ts'
import type {
  InspectableConnector,
  ProbeOptions,
  ProbeReport,
  TransferStatus,
} from '../inspectable-connector.ts'
import { systemClock, waitScope, type ConnectorClock, type WaitScope } from '../wait-scope.ts'
import { dataAccess, type DataAccess } from './access-token.ts'
import type { Edc } from './edc.ts'
import { createEdc, type EdcV3Options } from './edc-v3-options.ts'
import { fetchBytes, idsOf } from './fetch-bytes.ts'
import { reachAgreement } from './negotiate.ts'
import { probe } from './probe.ts'
import { getProcess } from './process.ts'
import { publish } from './publish.ts'
import { SingleFlight } from './single-flight.ts'
import { endTransfers, phaseOf, startTransfer, transfersOf } from './transfer.ts'
import { withdraw } from './withdraw.ts'

/**
 * A connector with EDC's management API v3 and EDRs, as Tractus-X deploys it.
 *
 * @example
 * const connector = new EdcV3Connector({
 *   connectorId: 'connector_acme',
 *   participantId: 'BPNL00000000ACME',
 *   managementUrl: 'https://edc.acme.example/management',
 *   auth: { apiKey },
 *   dataAddress,
 * })
 */
export class EdcV3Connector implements InspectableConnector {
  readonly connectorId: string
  readonly participantId: string
  readonly #options: EdcV3Options
  readonly #edc: Edc
  readonly #clock: ConnectorClock
  readonly #acquisitions = new SingleFlight<Acquisition>()
  readonly #tokens = new SingleFlight<DataAccess | undefined>()
  readonly #renewals = new SingleFlight<Acquisition>()

  constructor(options: EdcV3Options) {
    this.#options = options
    this.#edc = createEdc(options)
    this.#clock = options.clock ?? systemClock
    this.connectorId = options.connectorId
    this.participantId = options.participantId
  }

  async publish(request: PublishRequest, options?: WaitOptions): Promise<PublishedAsset> {
    return publish(this.#edc, request, this.#scope(options))
  }

  async acquire(request: AcquireRequest, options?: WaitOptions): Promise<Acquisition> {
    const scope = this.#scope(options)
    const { packageId, counterParty } = request
    const assetId = requireId(request.assetId)
    const key = JSON.stringify([assetId, counterParty.participantId, counterParty.protocolEndpoint])
    return this.#acquisitions.run(key, scope, async () => {
      const contractAgreementId = await reachAgreement(this.#edc, request, scope)
      return startTransfer(this.#edc, { packageId, assetId, counterParty, contractAgreementId }, scope)
    })
  }

  async fetch(acquisition: Acquisition, options: FetchOptions = {}): Promise<Uint8Array> {
    const scope = this.#scope(options)
    const { maximumBytes = LIMITS.contentBytes } = options
    let current = acquisition
    for (let renewed = false; ; renewed = true) {
      const { transferProcessId } = current
      const access = await this.#tokens.run(transferProcessId, scope, () =>
        dataAccess(this.#edc, transferProcessId, scope),
      )
      if (access) {
        scope.report({ step: 'token_received', transferProcessId })
        const result = await fetchBytes(this.#edc, access, current, { maximumBytes, scope })
        if (result !== 'rejected') {
          scope.report({ step: 'bytes_received', transferProcessId })
          return result.bytes
        }
      }
      // The token may have expired or been revoked: start one new transfer on the same agreement.
      if (renewed) throw new ConnectorError('token_rejected', idsOf(current))
      current = await this.#renew(current, scope)
    }
  }

  #renew(acquisition: Acquisition, scope: WaitScope): Promise<Acquisition> {
    const { transferProcessId, counterPartyTransferProcessId: _, ...agreed } = acquisition
    return this.#renewals.run(transferProcessId, scope, async () => {
      const renewed = await startTransfer(this.#edc, agreed, scope, [transferProcessId])
      scope.report({ step: 'transfer_renewed', transferProcessId: renewed.transferProcessId })
      return renewed
    })
  }

  async status(
    { transferProcessId }: Pick<Acquisition, 'transferProcessId'>,
    options?: WaitOptions,
  ): Promise<TransferStatus> {
    const process = await getProcess(this.#edc, 'transferprocesses', transferProcessId, this.#scope(options))
    if (!process) return { transferProcessId, phase: 'unknown', state: 'UNKNOWN' }
    const { state, since, correlationId, errorDetail } = process
    return {
      transferProcessId,
      phase: phaseOf(state),
      state,
      ...(correlationId !== undefined && { counterPartyTransferProcessId: correlationId }),
      ...(since !== undefined && { since }),
      ...(errorDetail !== undefined && { errorDetail }),
    }
  }

  async finish(acquisition: Acquisition, options?: WaitOptions): Promise<void> {
    const scope = this.#scope(options)
    const { contractAgreementId } = acquisition
    const transfers = await transfersOf(this.#edc, 'contractId', contractAgreementId, scope)
    const open = transfers.filter(({ ofConsumer, state }) => ofConsumer && phaseOf(state) !== 'ended')
    const ended = await endTransfers(this.#edc, open, 'received', scope)
    if (ended.length === open.length) return
    throw new ConnectorError('transfer_timeout', {
      ...idsOf(acquisition),
      what: 'A transfer has not ended yet.',
    })
  }

  async withdraw(assetId: string, options?: WaitOptions): Promise<WithdrawalReport> {
    return withdraw(this.#edc, assetId, this.#scope(options))
  }

  async probe(options: ProbeOptions = {}): Promise<ProbeReport> {
    // The dry run fetches from the data plane of this connector itself, which may be in its own network.
    const own = new EdcV3Connector({ ...this.#options, allowPrivateDataPlanes: true })
    return probe(own, this.#edc, options, this.#scope(options))
  }

  #scope(options?: WaitOptions): WaitScope {
    return waitScope(this.#clock, options)
  }
}
