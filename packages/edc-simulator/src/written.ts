import { type Node, REQUEST_CONTEXT } from '@agent-exchange/edc/management-api'
import { single, writePolicy } from './policy.ts'
import type {
  Agreement,
  Asset,
  ContractDefinition,
  Negotiation,
  PolicyDefinition,
  TokenEntry,
  Transfer,
} from './records.ts'

/** Records in the words of EDC's own answers. */
export function written(type: string, id: string, members: Node): Node {
  const present = Object.entries(members).filter(([, value]) => value !== undefined)
  return { '@id': id, '@type': type, ...Object.fromEntries(present), '@context': REQUEST_CONTEXT }
}

export function writeAsset({ id, properties, privateProperties, dataAddress }: Asset): Node {
  return written('Asset', id, {
    properties: { ...properties, id },
    ...(Object.keys(privateProperties).length > 0 && { privateProperties }),
    dataAddress: { '@type': 'DataAddress', ...dataAddress },
  })
}

export function writePolicyDefinition({ id, createdAt, policy }: PolicyDefinition): Node {
  return written('PolicyDefinition', id, {
    createdAt,
    policy: { '@type': 'odrl:Set', ...writePolicy(policy) },
  })
}

export function writeContractDefinition(definition: ContractDefinition): Node {
  const { id, accessPolicyId, contractPolicyId, selector } = definition
  const assetsSelector = single(
    selector.map((criterion) => ({ '@type': 'Criterion', operator: '=', ...criterion })),
  )
  return written('ContractDefinition', id, { accessPolicyId, contractPolicyId, assetsSelector })
}

export function writeNegotiation(negotiation: Negotiation): Node {
  const { id, type, protocol, state, counterPartyId, counterPartyAddress, createdAt, assetId } = negotiation
  const { agreementId: contractAgreementId, correlationId, errorDetail } = negotiation
  const about = {
    type,
    protocol,
    state,
    counterPartyId,
    counterPartyAddress,
    callbackAddresses: [],
    createdAt,
    assetId,
  }
  return written('ContractNegotiation', id, { ...about, contractAgreementId, correlationId, errorDetail })
}

export function writeAgreement({ id, policy, ...about }: Agreement): Node {
  const { consumerId, providerId, assetId } = about
  const parties = {
    'odrl:assignee': consumerId,
    'odrl:assigner': providerId,
    'odrl:target': { '@id': assetId },
  }
  const agreed = { '@type': 'odrl:Agreement', ...writePolicy(policy), ...parties }
  return written('ContractAgreement', id, { ...about, policy: agreed })
}

export function writeTransfer(transfer: Transfer): Node {
  const { id, state, stateTimestamp, type, correlationId, assetId, agreementId, transferType, errorDetail } =
    transfer
  const about = {
    state,
    stateTimestamp,
    type,
    callbackAddresses: [],
    correlationId,
    assetId,
    contractId: agreementId,
  }
  return written('TransferProcess', id, { ...about, transferType, errorDetail })
}

export function writeTokenEntry(entry: TokenEntry): Node {
  const { transferProcessId, agreementId, assetId, providerId, contractNegotiationId, createdAt } = entry
  const about = { transferProcessId, agreementId, assetId, providerId, contractNegotiationId, createdAt }
  return written('EndpointDataReferenceEntry', transferProcessId, about)
}
