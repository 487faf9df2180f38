import { isNode, textOf, type Node } from '@agent-exchange/edc/management-api'
import { catalogFor, datasetFor, inProtocol, offersFor } from './catalog.ts'
import { enter, type ParticipantState } from './participant-state.ts'
import { readPolicy, samePolicy } from './policy.ts'
import type { Negotiation, Transfer } from './records.ts'
import type { Call, Reply, Route } from './routing.ts'
import { grant, revoke } from './transfer-machine.ts'

/** What other connectors say to this one. Who speaks is proved before; whether it may is decided here. */
export function protocolRoutes(state: ParticipantState): readonly Route[] {
  const from = (call: Call) => state.messenger.sender(call.headers)
  const post = (path: string, handle: (call: Call, sender: string) => Reply): Route => ({
    method: 'POST',
    path: `/protocol${path}`,
    handle: (call) => {
      const sender = from(call)
      return sender === undefined ? problem(401, 'Unauthorized') : handle(call, sender)
    },
  })
  return [
    {
      method: 'GET',
      path: '/protocol/.well-known/dspace-version',
      handle: () => ({ status: 200, body: { protocolVersions: VERSIONS } }),
    },
    post('/catalog/request', (call, sender) => ({
      status: 200,
      body: catalogFor(state, sender, protocolOf(call)),
    })),
    post('/catalog/datasets/:id', (call, sender) => dataset(state, call, sender)),
    post('/negotiations/request', (call, sender) => negotiationRequested(state, call, sender)),
    post('/negotiations/:id/agreement', (call, sender) => agreed(state, call, sender)),
    post('/negotiations/:id/verification', (call, sender) =>
      negotiationMoves(state, call, sender, 'AGREED', 'VERIFIED'),
    ),
    post('/negotiations/:id/finalized', (call, sender) =>
      negotiationMoves(state, call, sender, 'VERIFIED', 'FINALIZED'),
    ),
    post('/negotiations/:id/termination', (call, sender) => ended(state, state.negotiations, call, sender)),
    post('/transfers/request', (call, sender) => transferRequested(state, call, sender)),
    post('/transfers/:id/start', (call, sender) => transferStarted(state, call, sender)),
    post('/transfers/:id/termination', (call, sender) => ended(state, state.transfers, call, sender)),
    post('/tokens/refresh', (call) => refreshed(state, call)),
  ]
}

const VERSIONS = [
  { version: '2025-1', path: '/' },
  { version: 'v0.8', path: '/' },
]

function dataset(state: ParticipantState, call: Call, sender: string): Reply {
  const id = call.params['id'] ?? ''
  const asset = state.assets.get(id)
  const found = asset && datasetFor(state, asset, sender)
  if (!found) return problem(404, `Dataset ${id} does not exist`)
  return { status: 200, body: inProtocol(protocolOf(call), found) }
}

function negotiationRequested(state: ParticipantState, { body }: Call, sender: string): Reply {
  const { consumerPid, offer, callbackAddress, protocol } = body as Record<string, unknown>
  if (!isNode(offer)) return problem(400, 'Bad request')
  const [definitionId] = String(offer['@id'])
    .split(':')
    .map((part) => Buffer.from(part, 'base64').toString())
  const asset = state.assets.get(textOf(offer, 'target') ?? '')
  const known =
    asset && offersFor(state, asset, sender).find(({ definition }) => definition.id === definitionId)
  if (!asset || !known) return problem(404, 'Not found')
  const negotiation: Negotiation = {
    ...processOf(state, sender, { consumerPid, callbackAddress, protocol }),
    state: 'REQUESTED',
    assetId: asset.id,
    offerId: String(offer['@id']),
    policy: known.policy,
    agreementId: undefined,
  }
  state.negotiations.set(negotiation.id, negotiation)
  return { status: 201, body: { providerPid: negotiation.id } }
}

function agreed(state: ParticipantState, call: Call, sender: string): Reply {
  const negotiation = state.negotiations.get(call.params['id'] ?? '')
  if (!negotiation) return problem(404, 'Not found')
  if (negotiation.counterPartyId !== sender) return problem(400, 'Invalid client credentials')
  const message = call.body as Record<string, unknown>
  const policy = isNode(message['policy']) ? readPolicy(message['policy']) : undefined
  if (!policy || !samePolicy(policy, negotiation.policy))
    return problem(400, 'Policy in the contract agreement is not equal to the one in the contract offer')
  if (negotiation.state !== 'REQUESTED') return problem(409, `Cannot agree in ${negotiation.state}`)
  const id = String(message['id'])
  state.agreements.set(id, {
    id,
    assetId: String(message['assetId']),
    providerId: String(message['providerId']),
    consumerId: String(message['consumerId']),
    policy,
    contractSigningDate: Number(message['contractSigningDate']),
  })
  negotiation.agreementId = id
  enter(negotiation, 'AGREED', state.now())
  return { status: 200 }
}

function negotiationMoves(
  state: ParticipantState,
  call: Call,
  sender: string,
  before: string,
  after: string,
): Reply {
  const negotiation = state.negotiations.get(call.params['id'] ?? '')
  if (!negotiation || negotiation.counterPartyId !== sender) return problem(404, 'Not found')
  if (negotiation.state !== before) return problem(409, `Cannot move from ${negotiation.state}`)
  enter(negotiation, after, state.now())
  return { status: 200 }
}

function ended(
  state: ParticipantState,
  processes: ReadonlyMap<string, Negotiation | Transfer>,
  call: Call,
  sender: string,
): Reply {
  const process = processes.get(call.params['id'] ?? '')
  if (!process || process.counterPartyId !== sender) return problem(400, 'Invalid counter-party identity')
  state.tokenEntries.delete(process.id)
  revoke(state, process.id)
  enter(process, 'TERMINATED', state.now())
  return { status: 200 }
}

function transferRequested(state: ParticipantState, { body }: Call, sender: string): Reply {
  const { consumerPid, agreementId, transferType, callbackAddress, protocol } = body as Record<
    string,
    unknown
  >
  const agreement = state.agreements.get(String(agreementId))
  // An agreement outlives its offer: what a contract definition says now does not matter any more.
  if (agreement?.consumerId !== sender) return problem(404, 'Agreement not found')
  if (!state.assets.has(agreement.assetId)) return problem(404, 'Asset not found')
  const transfer: Transfer = {
    ...processOf(state, sender, { consumerPid, callbackAddress, protocol }),
    state: 'INITIAL',
    assetId: agreement.assetId,
    agreementId: agreement.id,
    transferType: String(transferType),
  }
  state.transfers.set(transfer.id, transfer)
  return { status: 201, body: { providerPid: transfer.id } }
}

function transferStarted(state: ParticipantState, call: Call, sender: string): Reply {
  const transfer = state.transfers.get(call.params['id'] ?? '')
  if (!transfer || transfer.counterPartyId !== sender) return problem(404, 'Not found')
  if (transfer.state !== 'REQUESTED') return problem(409, `Cannot start in ${transfer.state}`)
  const { dataAddress } = call.body as { dataAddress: ReturnType<typeof grant> }
  const negotiation = [...state.negotiations.values()].find(
    ({ agreementId }) => agreementId === transfer.agreementId,
  )
  const { id, agreementId, assetId, counterPartyId, counterPartyAddress } = transfer
  if (!state.faults.withholdToken)
    state.tokenEntries.set(id, {
      transferProcessId: id,
      agreementId,
      assetId,
      providerId: counterPartyId,
      counterPartyAddress,
      contractNegotiationId: negotiation?.id ?? '',
      createdAt: state.now(),
      ...dataAddress,
    })
  enter(transfer, 'STARTED', state.now())
  return { status: 200 }
}

/** A refresh token works once; of two refreshes at the same time the later one fails. */
function refreshed(state: ParticipantState, { body }: Call): Reply {
  const { refreshToken } = body as { refreshToken: unknown }
  const granted = [...state.grantedTokens.values()].find((token) => token.refreshToken === refreshToken)
  if (!granted) return problem(401, 'Unknown refresh token')
  state.refreshes++
  return { status: 200, body: grant(state, { id: granted.transferProcessId, assetId: granted.assetId }) }
}

function processOf(
  state: ParticipantState,
  sender: string,
  message: { consumerPid: unknown; callbackAddress: unknown; protocol: unknown },
) {
  const now = state.now()
  return {
    id: state.newId(),
    type: 'PROVIDER' as const,
    protocol: String(message.protocol),
    createdAt: now,
    stateTimestamp: now,
    counterPartyId: sender,
    counterPartyAddress: String(message.callbackAddress),
    correlationId: String(message.consumerPid),
    errorDetail: undefined,
  }
}

function protocolOf({ body }: Call): string {
  return isNode(body) && typeof body['protocol'] === 'string' ? body['protocol'] : ''
}

function problem(code: number, reason: string): Reply {
  const body: Node = { '@type': 'dspace:Error', 'dspace:code': String(code), 'dspace:reason': reason }
  return { status: code, body }
}
