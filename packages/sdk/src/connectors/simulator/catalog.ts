import { DCAT, DCT, DSPACE, EDC, localName, ODRL, PULL } from '../edc-v3/vocabulary.ts'
import type { Node } from '../edc-v3/json-ld-reader.ts'
import type { ParticipantState } from './participant-state.ts'
import { admits, single, writePolicy } from './policy.ts'
import type { Asset, ContractDefinition, Policy } from './records.ts'

const LATEST_DSPACE = 'https://w3id.org/dspace/2025/1/'

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
  const { participantId: own } = state
  return {
    '@id': `${own}-catalog`,
    '@type': 'dcat:Catalog',
    'dcat:dataset': single(datasets),
    'dcat:service': [],
    'dspace:participantId': protocol.endsWith('2025-1') ? { '@id': own } : own,
    '@context': catalogContext(protocol),
  }
}

export function catalogContext(protocol: string): Node {
  const dspace = protocol.endsWith('2025-1') ? LATEST_DSPACE : DSPACE
  return { '@vocab': EDC, edc: EDC, odrl: ODRL, dcat: DCAT, dct: DCT, dspace }
}
