import {
  asText,
  DCAT,
  DCT,
  DSPACE,
  EDC,
  localName,
  type Node,
  ODRL,
  PULL,
} from '@agent-exchange/edc/management-api'
import type { ParticipantState } from './participant-state.ts'
import { admits, single, writePolicy } from './policy.ts'
import type { Asset, ContractDefinition, Policy } from './records.ts'

export interface Offer {
  readonly id: string
  readonly definition: ContractDefinition
  readonly policy: Policy
}

/** The offers of an asset to a participant. */
export function offersFor(state: ParticipantState, asset: Asset, participantId: string): readonly Offer[] {
  return [...state.contractDefinitions.values()].flatMap((definition) => {
    const access = state.policies.get(definition.accessPolicyId)?.policy
    const policy = state.policies.get(definition.contractPolicyId)?.policy
    const chosen = definition.selector.every(
      ({ operandLeft, operandRight }) => valueOf(asset, localName(operandLeft)) === operandRight,
    )
    if (!access || !policy || !chosen) return []
    if (state.enforcesAccess && !admits(access, participantId)) return []
    const id = [definition.id, asset.id, state.newId()]
      .map((part) => Buffer.from(part).toString('base64'))
      .join(':')
    return [{ id, definition, policy }]
  })
}

function valueOf(asset: Asset, name: string): string | undefined {
  return name === 'id' ? asset.id : asset.properties[name]
}

/** Undefined where there is nothing for this participant. */
export function datasetFor(state: ParticipantState, asset: Asset, participantId: string): Node | undefined {
  const { faults } = state
  const found = offersFor(state, asset, participantId)
  const offers = faults.catalog === 'two offers' ? [...found, ...found] : found
  if (found.length === 0) return undefined
  const formats = faults.catalog === 'no pull' ? ['HttpData-PUSH'] : [PULL, 'HttpData-PUSH']
  const written = offers.map(({ id, policy }) => ({
    '@id': id,
    '@type': 'odrl:Offer',
    ...writePolicy(faults.catalog === 'duties' ? withDuty(policy) : policy),
  }))
  const service = {
    '@id': `${state.participantId}-service`,
    '@type': 'dcat:DataService',
    'dcat:endpointDescription': 'dspace:connector',
    'dcat:endpointURL': state.protocolAddress,
  }
  return {
    '@id': faults.catalog === 'other asset' ? 'another-asset' : asset.id,
    '@type': 'dcat:Dataset',
    'odrl:hasPolicy': faults.catalog === 'no offer' ? [] : single(written),
    'dcat:distribution': formats.map((format) => ({
      '@type': 'dcat:Distribution',
      'dct:format': { '@id': format },
      'dcat:accessService': service,
    })),
    ...asset.properties,
    ...faults.lyingProperties,
    id: asset.id,
  }
}

function withDuty(policy: Policy): Policy {
  return { ...policy, obligations: [{ action: 'compensate', constraints: [] }] }
}

export function catalogFor(state: ParticipantState, participantId: string, protocol: string): Node {
  const datasets = [...state.assets.values()].flatMap(
    (asset) => datasetFor(state, asset, participantId) ?? [],
  )
  return inProtocol(protocol, {
    '@id': `${state.participantId}-catalog`,
    '@type': 'dcat:Catalog',
    'dcat:dataset': single(datasets),
    'dcat:service': [],
    'dspace:participantId': state.participantId,
  })
}

/** With inline prefixes as older versions have it; 2025-1 abbreviates by a context that is only named. */
export function inProtocol(protocol: string, node: Node): Node {
  if (!protocol.endsWith('2025-1')) return { ...node, '@context': CONTEXT }
  return { ...(abbreviated(node) as Node), '@context': NAMED_CONTEXT }
}

const CONTEXT = { '@vocab': EDC, edc: EDC, odrl: ODRL, dcat: DCAT, dct: DCT, dspace: DSPACE }
const NAMED_CONTEXT = ['https://w3id.org/dspace/2025/1/context.jsonld', 'https://w3id.org/edc/dspace/v0.0.1']
const LISTS: ReadonlySet<string> = new Set([
  'hasPolicy',
  'dataset',
  'permission',
  'prohibition',
  'obligation',
  'constraint',
])
const NAMES: ReadonlySet<string> = new Set(['action', 'leftOperand', 'operator', 'format'])

function abbreviated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(abbreviated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === '@type') return [key, localName(String(inner))]
      const name = /^(?:odrl|dcat|dct|dspace):/u.test(key) ? localName(key) : undefined
      if (name === undefined) return [key.startsWith('@') || key === 'id' ? key : `edc:${key}`, inner]
      if (NAMES.has(name)) return [name, (asText(inner) ?? '').replace(/^odrl:/u, '')]
      return [name, abbreviated(LISTS.has(name) ? [inner].flat() : inner)]
    }),
  )
}
