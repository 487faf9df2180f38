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

/** From least to most sensitive, as in the schema of a fact. */
export const SENSITIVITIES = ['public', 'internal', 'confidential', 'restricted'] as const
export type Sensitivity = (typeof SENSITIVITIES)[number]

/**
 * An organization's rules of disclosure. Ours: in the protocol, levels are free text, and no member limits the
 * sensitivity of a fact.
 */
export interface PolicySettings {
  /** Disclosure levels, from least to most detailed. Levels that are not listed must be equal. */
  readonly disclosureLevels?: readonly string[]
  /** More sensitive facts are never sent. */
  readonly maximumSensitivity?: Sensitivity
}

/** Input of the five checks. */
export interface PolicySubject {
  readonly object: ProtocolObject
  readonly policy: PolicyEnvelope
  readonly recipient: { readonly organizationId: string; readonly agentId: string }
  /** Directory entry of the recipient. */
  readonly recipientAgent: AgentResource
  readonly skill: { readonly id: string; readonly version: string }
  /** Release of the skill, if it was read. */
  readonly release?: SkillRelease | undefined
  /** Whether an unknown release fails the check. */
  readonly releaseRequired?: boolean
  readonly expiresAt?: string | undefined
  readonly evaluatedAt: string
  readonly settings?: PolicySettings | undefined
  /** Open points as the exchange decides them. Defaults to the default profile. */
  readonly profile?: DeploymentProfile
}

/** Returns the violations that prevent sending. Pure. */
export type PolicyCheck = (subject: PolicySubject) => readonly Failure[]

/** Prefixes a pointer with the document that it refers to. */
export function inObject(pointer: string, rule: string, message: string): Failure {
  return { pointer: `/object${pointer}`, rule, message }
}

export function inPolicy(pointer: string, rule: string, message: string): Failure {
  return { pointer: `/policy${pointer}`, rule, message }
}
