import type { AcquireRequest } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import type { WaitScope } from '../wait-scope.ts'
import { createdId, query, requireNode, type Edc } from './edc.ts'
import { ensure } from './ensure.ts'
import { isNode, textOf } from './json-ld-reader.ts'
import { causeOfEnd, causeOfStandstill } from './likely-cause.ts'
import { findOffer } from './offer.ts'
import { getProcess, readProcess, watch, type Process } from './process.ts'
import { REQUEST_CONTEXT } from './vocabulary.ts'

const ENDED: ReadonlySet<string> = new Set(['TERMINATING', 'TERMINATED'])

/** The agreement on an asset: an earlier one, that of a negotiation under way, or a new one. */
export async function reachAgreement(edc: Edc, request: AcquireRequest, scope: WaitScope): Promise<string> {
  const negotiation = await ensure({
    find: () => findNegotiation(edc, request, scope),
    create: () => startNegotiation(edc, request, scope),
    scope,
  })
  const agreementId = await awaitAgreement(edc, request, negotiation, scope)
  await requireAgreement(edc, request, agreementId, scope)
  scope.report({ step: 'agreement_reached', assetId: request.assetId, contractAgreementId: agreementId })
  return agreementId
}

async function findNegotiation(
  edc: Edc,
  request: AcquireRequest,
  scope: WaitScope,
): Promise<Process | undefined> {
  const { assetId, counterParty } = request
  const criteria = [{ operandLeft: 'contractOffers.assetId', operandRight: assetId }]
  const known = (await query(edc, 'contractnegotiations', criteria, scope)).map(readProcess)
  const usable = known.filter(
    ({ ofConsumer, counterPartyId, state }) =>
      ofConsumer && counterPartyId === counterParty.participantId && !ENDED.has(state),
  )
  const found = usable.find(({ state }) => state === 'FINALIZED') ?? usable[0]
  if (found) scope.report({ step: 'negotiation_found', assetId, negotiationId: found.id, state: found.state })
  return found
}

async function startNegotiation(edc: Edc, request: AcquireRequest, scope: WaitScope): Promise<Process> {
  const { assetId, counterParty } = request
  const offer = await findOffer(edc, request, scope)
  scope.report({ step: 'offer_found', assetId })
  const { body } = await edc.client.call(
    {
      method: 'POST',
      path: '/v3/contractnegotiations',
      body: {
        '@context': REQUEST_CONTEXT,
        '@type': 'ContractRequest',
        counterPartyAddress: counterParty.protocolEndpoint,
        counterPartyId: counterParty.participantId,
        protocol: edc.protocol,
        policy: offer,
      },
    },
    scope,
  )
  const id = createdId(body, 'the start of a negotiation')
  scope.report({ step: 'negotiation_started', assetId, negotiationId: id })
  const process = await getProcess(edc, 'contractnegotiations', id, scope)
  if (process) return process
  throw new ConnectorError('bad_answer', {
    negotiationId: id,
    what: 'The connector does not know its new negotiation.',
  })
}

async function awaitAgreement(
  edc: Edc,
  { assetId }: AcquireRequest,
  first: Process,
  scope: WaitScope,
): Promise<string> {
  const { process, firstDetail, outcome } = await watch(edc, 'contractnegotiations', first, {
    until: (state) => state === 'FINALIZED' || state === 'TERMINATED',
    scope,
    changed: ({ id, state }) =>
      scope.report({ step: 'negotiation_state', assetId, negotiationId: id, state }),
  })
  if (process.state === 'FINALIZED' && process.agreementId !== undefined) return process.agreementId
  const circumstances = {
    assetId,
    state: process.state,
    at: process.since ?? new Date(scope.clock.now()).toISOString(),
    negotiationId: process.id,
    ...(process.correlationId !== undefined && { counterPartyNegotiationId: process.correlationId }),
    ...(firstDetail !== undefined && { errorDetail: firstDetail }),
  }
  if (process.state === 'FINALIZED')
    throw new ConnectorError('bad_answer', {
      ...circumstances,
      what: 'The negotiation is final and names no agreement.',
    })
  if (outcome === 'timeout')
    throw new ConnectorError('negotiation_timeout', {
      ...circumstances,
      likelyCause: causeOfStandstill(process.state),
    })
  throw new ConnectorError('negotiation_terminated', {
    ...circumstances,
    likelyCause: causeOfEnd('negotiation', firstDetail),
  })
}

/** EDC accepts any target, so the agreement is read back and checked. */
async function requireAgreement(
  edc: Edc,
  { assetId, counterParty }: AcquireRequest,
  agreementId: string,
  scope: WaitScope,
): Promise<void> {
  const path = `/v3/contractagreements/${encodeURIComponent(agreementId)}`
  const agreement = requireNode((await edc.client.call({ method: 'GET', path }, scope)).body, `GET ${path}`)
  if (!isNode(agreement) || textOf(agreement, 'assetId') !== assetId)
    throw new ConnectorError('offer_mismatch', {
      assetId,
      contractAgreementId: agreementId,
      what: 'The agreement is about another asset.',
    })
  if (textOf(agreement, 'providerId') !== counterParty.participantId)
    throw new ConnectorError('offer_mismatch', {
      assetId,
      contractAgreementId: agreementId,
      what: 'The agreement is with another participant.',
    })
}
