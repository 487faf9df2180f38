import type {
  AgentResource,
  DeploymentProfile,
  Failure,
  POLICY_CHECK_IDS,
  PolicyEnvelope,
  ProtocolObject,
  SkillRelease,
} from '@agent-exchange/protocol'

export type PolicyCheckId = (typeof POLICY_CHECK_IDS)[number]

/** From the least to the most sensitive, as the schema of a fact names them. */
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted'] as const
export type Sensitivity = (typeof SENSITIVITIES)[number]

/**
 * What the protocol leaves open about disclosure, for an organization to say. Ours, not of the protocol: levels
 * are free words there, and no member says how sensitive a fact may be.
 */
export interface PolicySettings {
  /** Words for disclosure levels, from the least to the most detailed. Unlisted ones have to be equal. */
  readonly disclosureLevels?: readonly string[]
  /** Facts above this are never sent. */
  readonly maximumSensitivity?: Sensitivity
}

/** Everything that the five checks look at. */
export interface PolicySubject {
  readonly object: ProtocolObject
  readonly policy: PolicyEnvelope
  readonly recipient: { readonly organizationId: string; readonly agentId: string }
  /** The recipient as the directory shows it. */
  readonly recipientAgent: AgentResource
  readonly skill: { readonly id: string; readonly version: string }
  /** The skill's release, where it was looked up. */
  readonly release?: SkillRelease | undefined
  /** True where the release has to be known. */
  readonly releaseRequired?: boolean
  readonly expiresAt?: string | undefined
  readonly evaluatedAt: string
  readonly settings?: PolicySettings | undefined
  /** The open points as the exchange decides them; the defaults unless told. */
  readonly profile?: DeploymentProfile
}

/** Names what stands against sending; nothing does where the list is empty. Pure. */
export type PolicyCheck = (subject: PolicySubject) => readonly Failure[]

/** Says on which of the two documents a pointer stands. */
export function inObject(pointer: string, rule: string, message: string): Failure {
  return { pointer: `/object${pointer}`, rule, message }
}

export function inPolicy(pointer: string, rule: string, message: string): Failure {
  return { pointer: `/policy${pointer}`, rule, message }
}
