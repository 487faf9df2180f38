import { idOf, isNode, nodesOf, ODRL, textOf } from '@agent-exchange/edc/management-api'
import { enter, type ParticipantState } from './participant-state.ts'
import { readPolicy } from './policy.ts'
import { answerQuery, type Field } from './querying.ts'
import type { Agreement, Negotiation } from './records.ts'
import { notFound, refuse, type Call, type Handler, type Reply, type Route } from './routing.ts'
import { writeAgreement, writeNegotiation, written } from './written.ts'

const post = (path: string, handle: Handler): Route => ({
  method: 'POST',
  path: `/management/v3${path}`,
  handle,
})
const get = (path: string, handle: Handler): Route => ({
  method: 'GET',
  path: `/management/v3${path}`,
  handle,
})

const NEGOTIATION_FIELDS: Readonly<Record<string, Field<Negotiation>>> = {
  id: ({ id }) => id,
  type: ({ type }) => type,
  state: ({ state }) => state,
  counterPartyId: ({ counterPartyId }) => counterPartyId,
  correlationId: ({ correlationId }) => correlationId,
  'contractOffers.assetId': ({ assetId }) => assetId,
  'contractAgreement.assetId': ({ assetId, agreementId }) =>
    agreementId === undefined ? undefined : assetId,
}

const AGREEMENT_FIELDS: Readonly<Record<string, Field<Agreement & { createdAt: number }>>> = {
  id: ({ id }) => id,
  assetId: ({ assetId }) => assetId,
  consumerId: ({ consumerId }) => consumerId,
  providerId: ({ providerId }) => providerId,
}

/** Catalogs of others, negotiations and agreements. */
export function negotiationRoutes(state: ParticipantState): readonly Route[] {
  const { negotiations, agreements } = state
  const known = (call: Call, answer: (negotiation: Negotiation) => Reply): Reply => {
    const { id = '' } = call.params
    const negotiation = negotiations.get(id)
    return negotiation ? answer(negotiation) : notFound('ContractNegotiation', id)
  }
  const agreementOf = (id: string) => {
    const agreement = agreements.get(id)
    return agreement ? { status: 200, body: writeAgreement(agreement) } : notFound('ContractAgreement', id)
  }
  const dated = () =>
    [...agreements.values()].map((agreement) => ({ ...agreement, createdAt: agreement.contractSigningDate }))
  return [
    post('/catalog/request', (call) => ask(state, call, '/catalog/request')),
    post('/catalog/dataset/request', (call) => {
      const id = isNode(call.body) ? idOf(call.body) : undefined
      return ask(state, call, `/catalog/datasets/${encodeURIComponent(id ?? '')}`)
    }),
    post('/contractnegotiations', (call) => initiate(state, call)),
    post('/contractnegotiations/request', (call) =>
      answerQuery(call, negotiations.values(), NEGOTIATION_FIELDS, writeNegotiation),
    ),
    get('/contractnegotiations/:id', (call) =>
      known(call, (found) => ({ status: 200, body: writeNegotiation(found) })),
    ),
    get('/contractnegotiations/:id/state', (call) =>
      known(call, (found) => ({
        status: 200,
        body: written('NegotiationState', found.id, { state: found.state }),
      })),
    ),
    get('/contractnegotiations/:id/agreement', (call) =>
      known(call, (found) => agreementOf(found.agreementId ?? '')),
    ),
    post('/contractnegotiations/:id/terminate', (call) =>
      known(call, (found) => {
        if (['FINALIZED', 'TERMINATED'].includes(found.state))
          return refuse(409, 'ObjectConflict', `Cannot terminate in ${found.state}`)
        enter(found, 'TERMINATING', state.now(), reasonOf(call))
        return { status: 204 }
      }),
    ),
    post('/contractagreements/request', (call) =>
      answerQuery(call, dated(), AGREEMENT_FIELDS, writeAgreement),
    ),
    get('/contractagreements/:id', ({ params: { id = '' } }) => agreementOf(id)),
  ]
}

export function reasonOf({ body }: Call): string | undefined {
  return isNode(body) ? textOf(body, 'reason') : undefined
}

/** Hands a question on to the other connector; its refusal comes back as text in a 502. */
async function ask(state: ParticipantState, { body }: Call, path: string): Promise<Reply> {
  const address = isNode(body) ? textOf(body, 'counterPartyAddress') : undefined
  const protocol = (isNode(body) ? textOf(body, 'protocol') : undefined) ?? ''
  if (address === undefined) return refuse(400, 'ValidationFailure', 'counterPartyAddress is missing')
  const answer = await state.messenger.send(state.participantId, address, path, { protocol })
  if (!answer) return refuse(502, 'BadGateway', 'Failed to connect to the counter party')
  if (answer.status >= 300) return refuse(502, 'BadGateway', JSON.stringify(answer.body ?? {}))
  return { status: 200, body: answer.body }
}

function initiate(state: ParticipantState, { body }: Call): Reply {
  const [policy] = isNode(body) ? nodesOf(body, 'policy') : []
  const assetId = policy && textOf(policy, 'target')
  const counterPartyAddress = isNode(body) ? textOf(body, 'counterPartyAddress') : undefined
  const assigner = policy && textOf(policy, 'assigner')
  if (!isNode(body) || !policy || !assetId || assigner === undefined || counterPartyAddress === undefined)
    return refuse(
      400,
      'ValidationFailure',
      'policy with assigner and target, and counterPartyAddress, are mandatory',
    )
  // A bare `Offer` is not ODRL's: names of a context inside the request are not resolved.
  if (![policy['@type']].flat().some((type) => type === 'odrl:Offer' || type === `${ODRL}Offer`))
    return refuse(400, 'ValidationFailure', `policy/@type was expected to be ${ODRL}Offer but it was not`)
  const now = state.now()
  const negotiation: Negotiation = {
    id: state.newId(),
    type: 'CONSUMER',
    protocol: textOf(body, 'protocol') ?? '',
    createdAt: now,
    state: 'INITIAL',
    stateTimestamp: now,
    counterPartyId: textOf(body, 'counterPartyId') ?? assigner,
    counterPartyAddress,
    correlationId: undefined,
    errorDetail: undefined,
    assetId,
    offerId: idOf(policy) ?? '',
    policy: readPolicy(policy),
    agreementId: undefined,
  }
  state.negotiations.set(negotiation.id, negotiation)
  return { status: 200, body: written('IdResponse', negotiation.id, { createdAt: now }) }
}
