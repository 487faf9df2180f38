import { randomBytes } from 'node:crypto'
import { said } from './negotiation-machine.ts'
import { enter, type ParticipantState } from './participant-state.ts'
import type { Transfer } from './records.ts'

/** One step for every transfer of a participant. A pulled transfer never completes by itself. */
export async function stepTransfers(state: ParticipantState): Promise<void> {
  for (const transfer of state.transfers.values()) {
    const { transferHangsAt, transferEndsAt } = state.faults
    if (transfer.state === transferHangsAt) continue
    if (transfer.state === transferEndsAt?.state) {
      enter(transfer, 'TERMINATING', state.now(), transferEndsAt.detail)
      continue
    }
    await (transfer.type === 'CONSUMER' ? stepConsumer(state, transfer) : stepProvider(state, transfer))
  }
}

async function stepConsumer(state: ParticipantState, transfer: Transfer): Promise<void> {
  const next = (name: string, detail?: string) => enter(transfer, name, state.now(), detail)
  switch (transfer.state) {
    case 'INITIAL':
      return next('PROVISIONED')
    case 'PROVISIONED':
      return next('REQUESTING')
    case 'REQUESTING': {
      const { id, agreementId, transferType, protocol } = transfer
      const message = {
        consumerPid: id,
        agreementId,
        transferType,
        protocol,
        callbackAddress: state.protocolAddress,
      }
      const answer = await send(state, transfer, '/transfers/request', message)
      if (!answer) return undefined
      if (answer.status >= 300)
        return next('TERMINATING', `Failed to send request to provider: ${said(answer.body)}`)
      transfer.correlationId = String((answer.body as { providerPid: unknown }).providerPid)
      return next('REQUESTED')
    }
    case 'TERMINATING':
      return end(state, transfer)
    default:
      return undefined
  }
}

async function stepProvider(state: ParticipantState, transfer: Transfer): Promise<void> {
  switch (transfer.state) {
    case 'INITIAL':
      return enter(transfer, 'STARTING', state.now())
    case 'STARTING': {
      const dataAddress = grant(state, transfer)
      const answer = await send(state, transfer, `/transfers/${transfer.correlationId}/start`, {
        dataAddress,
      })
      if (!answer) return undefined
      return enter(transfer, answer.status < 300 ? 'STARTED' : 'TERMINATING', state.now())
    }
    case 'TERMINATING':
      return end(state, transfer)
    case 'TERMINATED':
      revoke(state, transfer.id)
      return enter(transfer, 'DEPROVISIONED', state.now())
    default:
      return undefined
  }
}

/** A token that nobody can guess, known to this data plane alone, bound to one transfer. */
export function grant(state: ParticipantState, { id, assetId }: Pick<Transfer, 'id' | 'assetId'>) {
  revoke(state, id)
  const [token, refreshToken] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const { tokenLifetimeMs, faults, base } = state
  const expiresAt = tokenLifetimeMs === undefined ? undefined : state.now() + tokenLifetimeMs
  state.grantedTokens.set(token, { transferProcessId: id, assetId, refreshToken, expiresAt })
  return { endpoint: faults.dataPlaneAddress ?? `${base}/public`, token, refreshToken, expiresAt }
}

export function revoke(state: ParticipantState, transferProcessId: string): void {
  for (const [token, granted] of state.grantedTokens)
    if (granted.transferProcessId === transferProcessId) state.grantedTokens.delete(token)
}

async function end(state: ParticipantState, transfer: Transfer): Promise<void> {
  if (transfer.correlationId !== undefined)
    await send(state, transfer, `/transfers/${transfer.correlationId}/termination`, {})
  state.tokenEntries.delete(transfer.id)
  enter(transfer, 'TERMINATED', state.now())
}

function send(state: ParticipantState, { counterPartyAddress }: Transfer, path: string, body: unknown) {
  return state.messenger.send(state.participantId, counterPartyAddress, path, body)
}
