import {
  asText,
  idOf,
  isNode,
  localName,
  type Node,
  nodesOf,
  textOf,
} from '@agent-exchange/edc/management-api'
import type { ParticipantState } from './participant-state.ts'
import { readPolicy } from './policy.ts'
import { answerQuery } from './querying.ts'
import type { Asset } from './records.ts'
import { notFound, refuse, type Call, type Reply, type Route } from './routing.ts'
import { writeAsset, writeContractDefinition, written, writePolicyDefinition } from './written.ts'

const BASE = '/management/v3'
const SETTLED: ReadonlySet<string> = new Set(['FINALIZED', 'TERMINATED'])

/** Assets, policies and contract definitions, with EDC's rules on what may be deleted when. */
export function publicationRoutes(state: ParticipantState): readonly Route[] {
  return [
    ...crud('assets', 'Asset', state.assets, writeAsset, {
      read: (node) => readAsset(state, node),
      mayDelete: (id) =>
        !isAssetInUse(state, id) || 'referenced by at least one contract agreement or an ongoing negotiation',
    }),
    {
      method: 'PUT',
      path: `${BASE}/assets`,
      handle: ({ body }) => {
        const asset = isNode(body) ? readAsset(state, body) : undefined
        if (!asset) return malformed()
        if (!state.assets.has(asset.id)) return notFound('Asset', asset.id)
        state.assets.set(asset.id, asset)
        return { status: 204 }
      },
    },
    ...crud('policydefinitions', 'PolicyDefinition', state.policies, writePolicyDefinition, {
      read: (node) => {
        const [policy] = nodesOf(node, 'policy')
        if (state.faults.refusesPolicies) return 'leftOperand is not bound to any functions'
        return (
          policy && { id: idOf(node) ?? state.newId(), createdAt: state.now(), policy: readPolicy(policy) }
        )
      },
      mayDelete: (id) => !isPolicyInUse(state, id) || 'referenced by at least one contract definition',
    }),
    ...crud('contractdefinitions', 'ContractDefinition', state.contractDefinitions, writeContractDefinition, {
      read: (node) => readContractDefinition(state, node),
      mayDelete: () => true,
    }),
  ]
}

function crud<T extends { readonly id: string; readonly createdAt: number }>(
  path: string,
  kind: string,
  records: Map<string, T>,
  write: (record: T) => Node,
  rules: {
    read: (node: Node) => T | string | undefined
    mayDelete: (id: string) => true | string
  },
): readonly Route[] {
  const create = ({ body }: Call): Reply => {
    const record = isNode(body) ? rules.read(body) : undefined
    if (record === undefined) return malformed()
    if (typeof record === 'string') return refuse(400, 'ValidationFailure', record)
    if (records.has(record.id))
      return refuse(409, 'ObjectConflict', `${kind} with ID ${record.id} already exists`)
    records.set(record.id, record)
    return { status: 200, body: written('IdResponse', record.id, { createdAt: record.createdAt }) }
  }
  const remove = ({ params: { id = '' } }: Call): Reply => {
    if (!records.has(id)) return notFound(kind, id)
    const allowed = rules.mayDelete(id)
    if (allowed !== true)
      return refuse(409, 'ObjectConflict', `${kind} ${id} cannot be deleted as it is ${allowed}`)
    records.delete(id)
    return { status: 204 }
  }
  const read = ({ params: { id = '' } }: Call): Reply => {
    const record = records.get(id)
    return record ? { status: 200, body: write(record) } : notFound(kind, id)
  }
  return [
    { method: 'POST', path: `${BASE}/${path}`, handle: create },
    {
      method: 'POST',
      path: `${BASE}/${path}/request`,
      handle: (call) => answerQuery(call, records.values(), { id: ({ id }) => id }, write),
    },
    { method: 'GET', path: `${BASE}/${path}/:id`, handle: read },
    { method: 'DELETE', path: `${BASE}/${path}/:id`, handle: remove },
  ]
}

function readAsset(state: ParticipantState, node: Node): Asset | undefined {
  const [address] = nodesOf(node, 'dataAddress')
  if (!address || textOf(address, 'type') === undefined) return undefined
  return {
    id: idOf(node) ?? state.newId(),
    createdAt: state.now(),
    properties: plain(nodesOf(node, 'properties')[0]),
    privateProperties: plain(nodesOf(node, 'privateProperties')[0]),
    dataAddress: plain(address),
  }
}

function readContractDefinition(state: ParticipantState, node: Node) {
  const [accessPolicyId, contractPolicyId] = [
    textOf(node, 'accessPolicyId'),
    textOf(node, 'contractPolicyId'),
  ]
  if (accessPolicyId === undefined || contractPolicyId === undefined) return undefined
  const selector = nodesOf(node, 'assetsSelector').map((criterion) => ({
    operandLeft: textOf(criterion, 'operandLeft') ?? '',
    operandRight: textOf(criterion, 'operandRight') ?? '',
  }))
  return {
    id: idOf(node) ?? state.newId(),
    createdAt: state.now(),
    accessPolicyId,
    contractPolicyId,
    selector,
  }
}

/** Members by their plain names. */
function plain(node: Node | undefined): Readonly<Record<string, string>> {
  const members = Object.entries(node ?? {}).filter(([key]) => !key.startsWith('@'))
  const texts = members.flatMap(([key, value]) => {
    const text = asText(Array.isArray(value) ? value[0] : value)
    return text === undefined ? [] : [[localName(key), text] as const]
  })
  return Object.fromEntries(texts)
}

function isAssetInUse(state: ParticipantState, id: string): boolean {
  const agreed = [...state.agreements.values()].some(({ assetId }) => assetId === id)
  return (
    agreed ||
    [...state.negotiations.values()].some(({ assetId, state: now }) => assetId === id && !SETTLED.has(now))
  )
}

function isPolicyInUse(state: ParticipantState, id: string): boolean {
  return [...state.contractDefinitions.values()].some((definition) =>
    [definition.accessPolicyId, definition.contractPolicyId].includes(id),
  )
}

function malformed(): Reply {
  return refuse(400, 'ValidationFailure', 'mandatory values are missing or blank')
}
