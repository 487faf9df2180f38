import { problemText } from '@agent-exchange/edc/management-api'
import { enter, type ParticipantState } from './participant-state.ts'
import { writePolicy } from './policy.ts'
import type { Agreement, Negotiation } from './records.ts'

/** One step for every negotiation of a participant. */
export async function stepNegotiations(state: ParticipantState): Promise<void> {
  for (const negotiation of state.negotiations.values()) {
    const { negotiationHangsAt, negotiationEndsAt } = state.faults
    if (negotiation.state === negotiationHangsAt) continue
    if (negotiation.state === negotiationEndsAt?.state) {
      enter(negotiation, 'TERMINATING', state.now(), negotiationEndsAt.detail)
      continue
    }
    await (negotiation.type === 'CONSUMER'
      ? stepConsumer(state, negotiation)
      : stepProvider(state, negotiation))
  }
}

async function stepConsumer(state: ParticipantState, negotiation: Negotiation): Promise<void> {
  const next = (name: string, detail?: string) => enter(negotiation, name, state.now(), detail)
  switch (negotiation.state) {
    case 'INITIAL':
      return next('REQUESTING')
    case 'REQUESTING': {
      const { id, offerId, assetId, policy, protocol } = negotiation
      const offer = { '@id': offerId, target: assetId, ...writePolicy(policy) }
      const message = { consumerPid: id, offer, protocol, callbackAddress: state.protocolAddress }
      const answer = await send(state, negotiation, '/negotiations/request', message)
      if (!answer) return undefined
      if (answer.status >= 300)
        return next('TERMINATING', `Failed to send request to provider: ${said(answer.body)}`)
      negotiation.correlationId = String((answer.body as { providerPid: unknown }).providerPid)
      return next('REQUESTED')
    }
    case 'AGREED':
      return next('VERIFYING')
    case 'VERIFYING': {
      const answer = await send(
        state,
        negotiation,
        `/negotiations/${negotiation.correlationId}/verification`,
        {},
      )
      return answer && next(answer.status < 300 ? 'VERIFIED' : 'TERMINATING')
    }
    case 'TERMINATING':
      return end(state, negotiation)
    default:
      return undefined
  }
}

async function stepProvider(state: ParticipantState, negotiation: Negotiation): Promise<void> {
  const next = (name: string) => enter(negotiation, name, state.now())
  switch (negotiation.state) {
    case 'REQUESTED':
      return next('AGREEING')
    case 'AGREEING': {
      const agreement = makeAgreement(state, negotiation)
      const message = { ...agreement, policy: writePolicy(agreement.policy) }
      const answer = await send(
        state,
        negotiation,
        `/negotiations/${negotiation.correlationId}/agreement`,
        message,
      )
      if (!answer) return undefined
      if (answer.status >= 300) return next('TERMINATING')
      state.agreements.set(agreement.id, agreement)
      negotiation.agreementId = agreement.id
      return next('AGREED')
    }
    case 'VERIFIED':
      return next('FINALIZING')
    case 'FINALIZING': {
      const answer = await send(
        state,
        negotiation,
        `/negotiations/${negotiation.correlationId}/finalized`,
        {},
      )
      return answer && next('FINALIZED')
    }
    case 'TERMINATING':
      return end(state, negotiation)
    default:
      return undefined
  }
}

function makeAgreement(state: ParticipantState, negotiation: Negotiation): Agreement {
  return {
    id: negotiation.agreementId ?? state.newId(),
    assetId: state.faults.agreesOnAsset ?? negotiation.assetId,
    providerId: state.participantId,
    consumerId: negotiation.counterPartyId,
    policy: negotiation.policy,
    contractSigningDate: Math.floor(state.now() / 1000),
  }
}

/** EDC reports the failure of its report over the failure itself, and so does this. */
async function end(state: ParticipantState, negotiation: Negotiation): Promise<void> {
  const { correlationId } = negotiation
  if (correlationId === undefined)
    return enter(
      negotiation,
      'TERMINATED',
      state.now(),
      'Failed to send termination to counter party: no counter party id',
    )
  await send(state, negotiation, `/negotiations/${correlationId}/termination`, {})
  return enter(negotiation, 'TERMINATED', state.now())
}

function send(state: ParticipantState, { counterPartyAddress }: Negotiation, path: string, body: unknown) {
  return state.messenger.send(state.participantId, counterPartyAddress, path, body)
}

export function said(body: unknown): string {
  return problemText(Buffer.from(JSON.stringify(body ?? {}))) ?? 'no reason given'
}
