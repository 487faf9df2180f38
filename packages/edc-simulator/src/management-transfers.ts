import { idOf, isNode, textOf } from '@agent-exchange/edc/management-api'
import { reasonOf } from './management-negotiations.ts'
import { enter, type ParticipantState } from './participant-state.ts'
import { answerQuery, type Field } from './querying.ts'
import type { TokenEntry, Transfer } from './records.ts'
import { notFound, refuse, type Call, type Handler, type Reply, type Route } from './routing.ts'
import type { grant } from './transfer-machine.ts'
import { writeTokenEntry, writeTransfer, written } from './written.ts'

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
const ENDED: ReadonlySet<string> = new Set(['TERMINATED', 'DEPROVISIONED', 'COMPLETED'])

const TRANSFER_FIELDS: Readonly<Record<string, Field<Transfer>>> = {
  id: ({ id }) => id,
  type: ({ type }) => type,
  state: ({ state }) => state,
  contractId: ({ agreementId }) => agreementId,
  assetId: ({ assetId }) => assetId,
  correlationId: ({ correlationId }) => correlationId,
}

const TOKEN_FIELDS: Readonly<Record<string, Field<TokenEntry>>> = {
  assetId: ({ assetId }) => assetId,
  agreementId: ({ agreementId }) => agreementId,
  providerId: ({ providerId }) => providerId,
  transferProcessId: ({ transferProcessId }) => transferProcessId,
}

/** Transfers, and the tokens that come with them. */
export function transferRoutes(state: ParticipantState): readonly Route[] {
  const { transfers, tokenEntries } = state
  const known = (call: Call, answer: (transfer: Transfer) => Reply): Reply => {
    const { id = '' } = call.params
    const transfer = transfers.get(id)
    return transfer ? answer(transfer) : notFound('TransferProcess', id)
  }
  return [
    post('/transferprocesses', (call) => initiate(state, call)),
    post('/transferprocesses/request', (call) =>
      answerQuery(call, transfers.values(), TRANSFER_FIELDS, writeTransfer),
    ),
    get('/transferprocesses/:id', (call) =>
      known(call, (found) => ({ status: 200, body: writeTransfer(found) })),
    ),
    get('/transferprocesses/:id/state', (call) =>
      known(call, (found) => ({
        status: 200,
        body: written('TransferState', found.id, { state: found.state }),
      })),
    ),
    post('/transferprocesses/:id/terminate', (call) =>
      known(call, (found) => {
        if (ENDED.has(found.state)) return refuse(409, 'ObjectConflict', `Cannot terminate in ${found.state}`)
        enter(found, 'TERMINATING', state.now(), reasonOf(call))
        return { status: 204 }
      }),
    ),
    post('/edrs/request', (call) => answerQuery(call, tokenEntries.values(), TOKEN_FIELDS, writeTokenEntry)),
    get('/edrs/:id/dataaddress', (call) => dataAddress(state, call)),
    {
      method: 'DELETE',
      path: '/management/v3/edrs/:id',
      handle: ({ params: { id = '' } }) =>
        tokenEntries.delete(id) ? { status: 204 } : notFound('EndpointDataReferenceEntry', id),
    },
  ]
}

function initiate(state: ParticipantState, { body }: Call): Reply {
  const agreementId = isNode(body) ? textOf(body, 'contractId') : undefined
  const agreement = state.agreements.get(agreementId ?? '')
  if (!isNode(body) || !agreement)
    return refuse(400, 'InvalidRequest', `Contract agreement with id ${agreementId} not found`)
  const now = state.now()
  const transfer: Transfer = {
    id: idOf(body) ?? state.newId(),
    type: 'CONSUMER',
    protocol: textOf(body, 'protocol') ?? '',
    createdAt: now,
    state: 'INITIAL',
    stateTimestamp: now,
    counterPartyId: agreement.providerId,
    counterPartyAddress: textOf(body, 'counterPartyAddress') ?? '',
    correlationId: undefined,
    errorDetail: undefined,
    assetId: agreement.assetId,
    agreementId: agreement.id,
    transferType: textOf(body, 'transferType') ?? '',
  }
  state.transfers.set(transfer.id, transfer)
  return { status: 200, body: written('IdResponse', transfer.id, { createdAt: now }) }
}

/** With `auto_refresh`, as Tractus-X has it: an expired token is replaced before it is handed out. */
async function dataAddress(state: ParticipantState, { params: { id = '' }, query }: Call): Promise<Reply> {
  const entry = state.tokenEntries.get(id)
  if (!entry) return notFound('EndpointDataReferenceEntry', id)
  const expired = entry.expiresAt !== undefined && entry.expiresAt <= state.now()
  if (expired && query.get('auto_refresh') === 'true') {
    const { refreshToken, counterPartyAddress } = entry
    const answer = await state.messenger.send(state.participantId, counterPartyAddress, '/tokens/refresh', {
      refreshToken,
    })
    if (answer?.status !== 200) return refuse(500, 'BadGateway', 'The token could not be refreshed')
    Object.assign(entry, answer.body as ReturnType<typeof grant>)
  }
  const { endpoint, token: authorization } = entry
  const type = 'https://w3id.org/idsa/v4.1/HTTP'
  const address = { type, endpoint, authType: 'bearer', endpointType: type, authorization }
  return { status: 200, body: written('DataAddress', id, address) }
}
