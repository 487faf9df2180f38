import type { Acquisition } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { TransferPhase } from '../inspectable-connector.ts'
import { waitScope, type WaitScope } from '../wait-scope.ts'
import { createdId, query, type Edc } from './edc.ts'
import { ensure } from './ensure.ts'
import { causeOfEnd, causeOfStandstill } from './likely-cause.ts'
import { getProcess, readProcess, terminate, watch, type Process } from './process.ts'
import { PULL, REQUEST_CONTEXT } from './vocabulary.ts'

/** What a transfer is for; one agreement may see several, one after the other. */
export type Agreed = Omit<Acquisition, 'transferProcessId' | 'counterPartyTransferProcessId'>

const PHASES: Readonly<Record<string, TransferPhase>> = {
  INITIAL: 'preparing',
  PROVISIONING: 'preparing',
  PROVISIONING_REQUESTED: 'preparing',
  PROVISIONED: 'preparing',
  REQUESTING: 'preparing',
  REQUESTED: 'preparing',
  STARTING: 'preparing',
  STARTUP_REQUESTED: 'preparing',
  STARTED: 'ready',
  SUSPENDING: 'suspended',
  SUSPENDING_REQUESTED: 'suspended',
  SUSPENDED: 'suspended',
  RESUMING: 'preparing',
  RESUMED: 'preparing',
  COMPLETING: 'ended',
  COMPLETING_REQUESTED: 'ended',
  COMPLETED: 'ended',
  TERMINATING: 'ended',
  TERMINATING_REQUESTED: 'ended',
  TERMINATED: 'ended',
  DEPROVISIONING: 'ended',
  DEPROVISIONING_REQUESTED: 'ended',
  DEPROVISIONED: 'ended',
}

export function phaseOf(state: string): TransferPhase {
  return PHASES[state] ?? 'unknown'
}

/** Ended for good. While it is being ended its token may still work. */
function isOver(state: string): boolean {
  return ['TERMINATED', 'COMPLETED'].includes(state) || state.startsWith('DEPROVISION')
}

/** A transfer that is ready: one under way or a new one. `not` names transfers whose token was refused. */
export async function startTransfer(
  edc: Edc,
  agreed: Agreed,
  scope: WaitScope,
  not: readonly string[] = [],
): Promise<Acquisition> {
  const first = await ensure({
    find: async () => {
      const open = (await transfersOf(edc, 'contractId', agreed.contractAgreementId, scope)).filter(
        ({ ofConsumer, state, id }) => ofConsumer && phaseOf(state) !== 'ended' && !not.includes(id),
      )
      const found = open.find(({ state }) => phaseOf(state) === 'ready') ?? open[0]
      if (found) scope.report({ step: 'transfer_found', transferProcessId: found.id, state: found.state })
      return found
    },
    create: () => requestTransfer(edc, agreed, scope),
    scope,
  })
  const ready = await awaitReady(edc, agreed, first, scope)
  const other = ready.correlationId
  const ids = {
    transferProcessId: ready.id,
    ...(other !== undefined && { counterPartyTransferProcessId: other }),
  }
  scope.report({ step: 'transfer_ready', assetId: agreed.assetId, ...ids })
  return { ...agreed, ...ids }
}

export async function transfersOf(
  edc: Edc,
  operandLeft: 'contractId' | 'assetId',
  operandRight: string,
  scope: WaitScope,
): Promise<readonly Process[]> {
  return (await query(edc, 'transferprocesses', [{ operandLeft, operandRight }], scope)).map(readProcess)
}

async function requestTransfer(edc: Edc, agreed: Agreed, scope: WaitScope): Promise<Process> {
  const { counterParty, contractAgreementId, assetId } = agreed
  const { body } = await edc.client.call(
    {
      method: 'POST',
      path: '/v3/transferprocesses',
      body: {
        '@context': REQUEST_CONTEXT,
        '@type': 'TransferRequest',
        counterPartyAddress: counterParty.protocolEndpoint,
        counterPartyId: counterParty.participantId,
        // Releases before 0.9 know the counterparty under this name and the asset by itself.
        connectorId: counterParty.participantId,
        assetId,
        protocol: edc.protocol,
        contractId: contractAgreementId,
        transferType: PULL,
      },
    },
    scope,
  )
  const id = createdId(body, 'the start of a transfer')
  scope.report({ step: 'transfer_started', assetId, contractAgreementId, transferProcessId: id })
  const process = await getProcess(edc, 'transferprocesses', id, scope)
  if (process) return process
  throw new ConnectorError('bad_answer', {
    transferProcessId: id,
    what: 'The connector does not know its new transfer.',
  })
}

async function awaitReady(edc: Edc, agreed: Agreed, first: Process, scope: WaitScope): Promise<Process> {
  const { assetId, contractAgreementId } = agreed
  const { process, firstDetail, outcome } = await watch(edc, 'transferprocesses', first, {
    until: (state) => phaseOf(state) === 'ready' || phaseOf(state) === 'ended',
    scope,
    changed: ({ id, state }) =>
      scope.report({ step: 'transfer_state', assetId, transferProcessId: id, state }),
  })
  if (phaseOf(process.state) === 'ready') return process
  const circumstances = {
    assetId,
    contractAgreementId,
    state: process.state,
    at: process.since ?? new Date(scope.clock.now()).toISOString(),
    transferProcessId: process.id,
    ...(process.correlationId !== undefined && { counterPartyTransferProcessId: process.correlationId }),
    ...(firstDetail !== undefined && { errorDetail: firstDetail }),
  }
  if (outcome === 'timeout')
    throw new ConnectorError('transfer_timeout', {
      ...circumstances,
      likelyCause: causeOfStandstill(process.state),
    })
  throw new ConnectorError('transfer_terminated', {
    ...circumstances,
    likelyCause: causeOfEnd('transfer', firstDetail),
  })
}

/** Ends every transfer in the list and waits, for a bounded time, until it has ended. */
export async function endTransfers(
  edc: Edc,
  open: readonly Process[],
  reason: string,
  scope: WaitScope,
): Promise<readonly string[]> {
  const ended: string[] = []
  const { signal, clock } = scope
  for (const process of open) {
    await terminate(edc, 'transferprocesses', process.id, reason, scope)
    const brief = waitScope(clock, {
      signal,
      deadlineMs: Math.max(1, Math.min(LIMITS.endingMs, scope.left())),
    })
    const { outcome } = await watch(edc, 'transferprocesses', process, {
      until: isOver,
      scope: brief,
      changed: () => undefined,
    })
    if (outcome === 'reached') ended.push(process.id)
    scope.report({ step: 'transfer_ended', transferProcessId: process.id })
  }
  return ended
}
