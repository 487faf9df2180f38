import type {
  LoopThread,
  NetworkStory,
  PolicyEnvelope,
  ProtocolObject,
  ResponseObject,
} from '@agent-exchange/protocol'
import type { AgentAddress } from '../context.ts'

/** Free text of a company. Whoever shows it says whose it is. */
export interface Quote {
  readonly text: string
  /** Organization that signed the package with the text. */
  readonly by: string
  readonly isReaders: boolean
}

/** The package that something is taken from. */
export interface Source {
  readonly packageId: string
  readonly by: AgentAddress
  readonly at: string
}

export interface StoryFact {
  readonly factId: string
  readonly statement: Quote
  readonly value?: unknown
  readonly evidenceRefs: readonly string[]
  readonly sensitivity?: string
  readonly source: Source
  /** Challenges that name this fact by its id or quote its statement. */
  readonly challenges: readonly { readonly text: Quote; readonly source: Source }[]
}

export interface Deadline {
  readonly at: string
  readonly isOverdue: boolean
  /** Whole days from now to the deadline, or since it. */
  readonly days: number
}

/** Rules by which a statement of the packages becomes a point of the story; docs/story.md explains each. */
export type AgreedRule = 'response_agrees' | 'summary_agreed' | 'story_agreed_fact'
export type DisputedRule =
  | 'point_challenged'
  | 'challenge_without_points'
  | 'summary_not_agreed'
  | 'fact_contradicted'
export type ProposedRule = 'option_provided' | 'action_proposed' | 'sender_intends'
export type DecidedRule = 'story_decision' | 'decision_recorded' | 'declined_by_policy'
export type OpenRule =
  | 'request_made'
  | 'clarification_requested'
  | 'human_decision_requested'
  | 'known_unknown'
  | 'story_open_question'
  | 'thread_open_question'
  | 'thread_decision_requested'
export type StoryRule = AgreedRule | DisputedRule | ProposedRule | DecidedRule | OpenRule

export interface StoryPoint<Rule extends StoryRule = StoryRule> {
  readonly rule: Rule
  readonly text: Quote
  readonly source: Source
  /** The package that a response answers. */
  readonly about?: AnsweredPackage
  readonly facts: readonly StoryFact[]
  /** What an agreement leaves out: the points that the same response challenges. */
  readonly exceptions?: readonly Quote[]
  /** Other companies that answered the network story with `agree`. */
  readonly confirmedBy?: readonly string[]
  /** A later `agree` of the company that disputed. It need not be about this point. */
  readonly laterAgreement?: Source
  readonly deadline?: Deadline
}

export interface AnsweredPackage {
  readonly packageId: string
  readonly lead?: Quote
  readonly isRevoked: boolean
}

export type LoopPhase = LoopThread['phase']

/** Where the loop stands. A phase is stated by a company in a loop_thread, never derived. */
export interface LoopStanding {
  /** The newest statement of each company, newest first. */
  readonly stated: readonly {
    readonly phase: LoopPhase
    readonly next: readonly string[]
    readonly source: Source
  }[]
  /** The phase that the packages themselves show to be reached: something was sent, or answered. */
  readonly shown?: 'shared' | 'responded'
}

export interface DueAnswer {
  readonly packageId: string
  readonly source: Source
  readonly request: Quote
  readonly owedBy: string
  readonly isReaders: boolean
  readonly deadline: Deadline
  readonly expected: readonly Quote[]
}

export interface StoryVersion {
  readonly storyId: string
  readonly version: number
  readonly status: NetworkStory['status']
  readonly summary: Quote
  readonly source: Source
  /** One of the newest active or closed version. Only its facts and decisions count. */
  readonly isCurrent: boolean
  /** What differs from the version before. */
  readonly changes: readonly VersionChange[]
}

export interface VersionChange {
  readonly part: 'agreed_facts' | 'open_questions' | 'decisions' | 'boundaries'
  readonly kind: 'added' | 'removed'
  readonly text: Quote
}

/** Members of an option or a constraint: those in use, and others. */
export interface ComparedItem {
  readonly members: readonly { readonly name: string; readonly text: Quote }[]
  readonly source: Source
}

export interface Handling {
  readonly source: Source
  readonly retentionDays: number
  readonly forwardingAllowed: boolean
  readonly disclosureLevel: Quote
  /** What the policy of the package permits language models, if the sender sent that policy in this thread. */
  readonly modelUse?: PolicyEnvelope['model_use']
  /** The last day on which the content may be kept, if the recipient opened it when it was sent (O-51). */
  readonly keepUntil?: string
}

export type UnreadableReason =
  | 'unknown_version'
  | 'unknown_type'
  | 'invalid'
  | 'unopened'
  | 'for_colleague'
  | 'cannot_open'

export interface ConversationEntry {
  readonly packageId: string
  readonly sentBy: AgentAddress
  readonly sentTo: AgentAddress
  readonly at: string
  readonly state: string
  readonly isReaders: boolean
  readonly isRevoked: boolean
  readonly isExpired: boolean
  /** When the exchange deletes the content. */
  readonly expiresAt?: string
  readonly respondsTo?: string
  readonly objectType?: ProtocolObject['object_type']
  /** None of a revoked package. */
  readonly lead?: Quote
  readonly actions: readonly ResponseObject['response_actions'][number][]
  /** Who wrote the object, where that is not the sender. Only the object says so. */
  readonly writtenBy?: AgentAddress
  readonly unreadable?: { readonly reason: UnreadableReason; readonly detail?: string }
}

export interface StoryTitle {
  readonly useCase: Quote
  readonly domain: Quote
  readonly timeHorizon: Quote
  /** Members of the affected scope that are text or numbers. */
  readonly scope: readonly Quote[]
  readonly source: Source
}

export interface StoryCompany {
  readonly organizationId: string
  readonly isReader: boolean
  readonly agents: readonly string[]
  readonly roles: readonly Quote[]
}

/** The story of a thread, as its packages tell it. */
export interface ThreadStory {
  readonly threadId: string
  readonly title?: StoryTitle
  readonly companies: readonly StoryCompany[]
  readonly standing: LoopStanding
  readonly agreed: readonly StoryPoint<AgreedRule>[]
  readonly disputed: readonly StoryPoint<DisputedRule>[]
  readonly proposed: readonly StoryPoint<ProposedRule>[]
  readonly decided: readonly StoryPoint<DecidedRule>[]
  readonly open: readonly StoryPoint<OpenRule>[]
  readonly due: readonly DueAnswer[]
  readonly facts: readonly StoryFact[]
  readonly options: readonly ComparedItem[]
  readonly constraints: readonly ComparedItem[]
  /** The newest of each company. */
  readonly confidence: readonly { readonly score: number; readonly basis: Quote; readonly source: Source }[]
  readonly notDisclosed: readonly { readonly organizationId: string; readonly items: readonly Quote[] }[]
  readonly versions: readonly StoryVersion[]
  readonly handling: readonly Handling[]
  /** Newest first. */
  readonly conversation: readonly ConversationEntry[]
  readonly olderPackages: number
  /** Whether the thread has newer packages that were not read. The story may be outdated. */
  readonly hasNewerPackages: boolean
}
