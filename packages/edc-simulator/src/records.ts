import type { ContractCondition } from '@agent-exchange/sdk'

/** What one simulated connector knows. */
export interface Asset {
  readonly id: string
  readonly createdAt: number
  readonly properties: Readonly<Record<string, string>>
  readonly privateProperties: Readonly<Record<string, string>>
  readonly dataAddress: Readonly<Record<string, string>>
}

export interface Rule {
  readonly action: string
  readonly constraints: readonly ContractCondition[]
}

export interface Policy {
  readonly permissions: readonly Rule[]
  readonly prohibitions: readonly Rule[]
  readonly obligations: readonly Rule[]
}

export interface PolicyDefinition {
  readonly id: string
  readonly createdAt: number
  readonly policy: Policy
}

export interface ContractDefinition {
  readonly id: string
  readonly createdAt: number
  readonly accessPolicyId: string
  readonly contractPolicyId: string
  readonly selector: readonly { readonly operandLeft: string; readonly operandRight: string }[]
}

interface ProcessRecord {
  readonly id: string
  readonly type: 'CONSUMER' | 'PROVIDER'
  readonly protocol: string
  readonly createdAt: number
  readonly counterPartyId: string
  readonly counterPartyAddress: string
  state: string
  stateTimestamp: number
  correlationId: string | undefined
  errorDetail: string | undefined
}

export interface Negotiation extends ProcessRecord {
  readonly assetId: string
  readonly offerId: string
  readonly policy: Policy
  agreementId: string | undefined
}

export interface Agreement {
  readonly id: string
  readonly assetId: string
  readonly providerId: string
  readonly consumerId: string
  readonly policy: Policy
  readonly contractSigningDate: number
}

export interface Transfer extends ProcessRecord {
  readonly assetId: string
  readonly agreementId: string
  readonly transferType: string
}

/** The consumer's copy of what opens the way to the bytes. */
export interface TokenEntry {
  readonly transferProcessId: string
  readonly agreementId: string
  readonly assetId: string
  readonly providerId: string
  readonly counterPartyAddress: string
  readonly contractNegotiationId: string
  readonly createdAt: number
  endpoint: string
  token: string
  refreshToken: string
  expiresAt: number | undefined
}

/** The provider's record of a token that it gave out. */
export interface GrantedToken {
  readonly transferProcessId: string
  readonly assetId: string
  readonly refreshToken: string
  readonly expiresAt: number | undefined
}
