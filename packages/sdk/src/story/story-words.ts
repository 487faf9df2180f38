import type { PackageState, PolicyEnvelope, ResponseObject } from '@agent-exchange/protocol'
import { labelOf } from '../objects/object-outline.ts'
import type {
  ConversationEntry,
  Deadline,
  LoopPhase,
  StoryRule,
  StoryTitle,
  StoryVersion,
  UnreadableReason,
  VersionChange,
} from './story-types.ts'

/** English of a story, for text and pages. `{who}` is the company that said it, `{other}` the one that it answered. */
const RULE_WORDS: Readonly<Record<StoryRule, string>> = {
  response_agrees: '{who} agrees with {other}',
  summary_agreed: '{who} agrees with this summary of {other}',
  story_agreed_fact: '{who} writes in the network story that this is agreed',
  point_challenged: '{who} challenges {other}',
  challenge_without_points: '{who} challenges {other} and names no point',
  summary_not_agreed: '{who} does not agree with this summary of {other}',
  fact_contradicted: 'the companies state this fact differently',
  option_provided: '{who} offers this option',
  action_proposed: '{who} proposes this action',
  sender_intends: '{who} intends to do this',
  story_decision: '{who} writes in the network story that this is decided',
  decision_recorded: '{who} recorded this decision',
  declined_by_policy: '{who} declines under its policy',
  request_made: '{who} asks {other}',
  clarification_requested: '{who} asks {other} for clarification',
  human_decision_requested: '{who} asks for the decision of a person',
  known_unknown: '{who} does not know this',
  story_open_question: '{who} lists it as open in the network story',
  thread_open_question: '{who} lists it as open in the thread',
  thread_decision_requested: '{who} requests this decision in the thread',
}

export const STORY_HEADINGS = {
  standing: 'Where it stands',
  due: 'Answers due',
  decided: 'Decided',
  agreed: 'Agreed',
  disputed: 'Disputed',
  proposed: 'Proposed',
  open: 'Open',
  facts: 'Facts',
  options: 'Options',
  constraints: 'Constraints',
  confidence: 'Confidence',
  notDisclosed: 'Not disclosed',
  versions: 'Network story',
  handling: 'Retention and forwarding',
  conversation: 'Conversation, newest first',
} as const

export const UNREADABLE_WORDS: Readonly<Record<UnreadableReason, string>> = {
  unknown_version: 'written in a protocol version that this software does not know',
  unknown_type: 'an object of a type that this software does not know',
  invalid: 'the object breaks the rules of the protocol',
  unopened: 'not opened yet',
  for_colleague: 'addressed to another agent of this organization',
  cannot_open: 'it could not be opened',
}

export const PART_WORDS: Readonly<Record<VersionChange['part'], string>> = {
  agreed_facts: 'agreed fact',
  open_questions: 'open question',
  decisions: 'decision',
  boundaries: 'boundary',
}

export const CHANGE_WORDS: Readonly<Record<VersionChange['kind'], string>> = {
  added: 'added',
  removed: 'removed',
}

export const STORY_STATUS_WORDS: Readonly<Record<StoryVersion['status'], string>> = {
  draft: 'draft',
  active: 'active',
  superseded: 'superseded',
  closed: 'closed',
}

const OBJECT_WORDS: Readonly<Record<NonNullable<ConversationEntry['objectType']>, string>> = {
  reasoning_package: 'reasoning',
  response_object: 'answer',
  loop_thread: 'state of the loop',
  policy_envelope: 'policy',
  network_story: 'network story',
  audit_event: 'audit event',
}

export const ACTION_WORDS: Readonly<Record<ResponseObject['response_actions'][number], string>> = {
  agree: 'agree',
  challenge: 'challenge',
  add_context: 'add context',
  provide_constraint: 'provide constraint',
  provide_option: 'provide option',
  request_clarification: 'request clarification',
  request_human_decision: 'request human decision',
  decline_with_policy: 'decline with policy',
  propose_action: 'propose action',
}

const STATE_WORDS: Readonly<Record<PackageState, string>> = {
  accepted: 'accepted',
  encrypted_available: 'encrypted available',
  transfer_started: 'transfer started',
  delivered: 'delivered',
  received: 'received',
  opened: 'opened',
  responded: 'responded',
  revoked: 'revoked',
}

export const PHASE_WORDS: Readonly<Record<LoopPhase, string>> = {
  observed: 'observed',
  reasoned: 'reasoned',
  shared: 'shared',
  responded: 'responded',
  aligned: 'aligned',
  actioned: 'actioned',
  measured: 'measured',
  learned: 'learned',
  closed: 'closed',
}

const NO_TITLE = 'A thread without readable reasoning'
/** Of a thread with more pages than are read. */
export const NEWER_UNREAD =
  'This thread is too long to be read in full. Its newest packages are not in this story.'
export const NO_PHASE = 'No company has stated a phase of the loop.'
export const SHOWN_WORDS = {
  shared: 'The packages show that reasoning was shared and not answered yet.',
  responded: 'The packages show that reasoning was shared and answered.',
} as const

/** The state of a package. A later version of the exchange may have more of them. */
export function stateWords(state: string): string {
  return (STATE_WORDS as Readonly<Record<string, string>>)[state] ?? state
}

/** A phase with what a company names as next. */
export function phaseWords(who: string, phase: LoopPhase, next: readonly string[]): string {
  const states = `${who} states that the loop is ${PHASE_WORDS[phase]}`
  return next.length === 0 ? `${states} and names no next phase` : `${states}; next can be ${next.join(', ')}`
}

/** Use case, scope and horizon, as the first package names them. */
export function titleWords(title: StoryTitle | undefined): string {
  if (!title) return NO_TITLE
  const rest = [...title.scope, title.timeHorizon].map(({ text }) => text).filter((text) => text !== '')
  return [labelOf(title.useCase.text), rest.join(', ')].filter((text) => text !== '').join(': ')
}

export function deadlineWords({ isOverdue, days }: Deadline): string {
  const count = days === 1 ? '1 day' : `${days} days`
  if (isOverdue) return days === 0 ? 'overdue by less than a day' : `overdue by ${count}`
  return days === 0 ? 'less than a day left' : `${count} left`
}

export function entryWords({ objectType, isRevoked, actions, unreadable }: ConversationEntry): string {
  const what = objectType ? OBJECT_WORDS[objectType] : 'sealed package'
  if (isRevoked) return `revoked ${what}`
  if (unreadable) return what
  return actions.length === 0 ? what : `${what}: ${actions.map((action) => ACTION_WORDS[action]).join(', ')}`
}

/** A point's sentence with the names of companies filled in. */
export function ruleWords(rule: StoryRule, who: string, other: string): string {
  return RULE_WORDS[rule].replaceAll(/\{(?:who|other)\}/gu, (name) => (name === '{who}' ? who : other))
}

/** What a policy permits language models to do with the content. */
export function modelUseWords(use: PolicyEnvelope['model_use']): string {
  const reasoning = use.allowed_for_runtime_reasoning ? 'may reason with it' : 'may not read it'
  return `language models ${reasoning} and ${use.allowed_for_training ? 'may' : 'may not'} be trained with it`
}
