import { ENVELOPE_MEMBERS, type ProtocolObject } from '@agent-exchange/protocol'

/** Members for programs. They are shown below the others. */
const TECHNICAL: ReadonlySet<string> = new Set(ENVELOPE_MEMBERS)

/** Members that people read first, in this order; `*_id` and `*_refs` come last. */
const FIRST = [
  'statement',
  'summary',
  'response_actions',
  'response_summary',
  'reasoning',
  'intent',
  'agreement',
  'facts',
  'added_facts',
  'options',
  'constraints',
  'response_required',
  'deadline',
  'confidence',
  'business_context',
  'phase',
  'event_type',
  'decision',
  'agreed_facts',
  'decisions',
  'open_questions',
  'boundaries',
]

const TITLES: Readonly<Record<ProtocolObject['object_type'], string>> = {
  reasoning_package: 'Reasoning package',
  response_object: 'Response',
  loop_thread: 'Thread summary',
  policy_envelope: 'Policy',
  network_story: 'Network story',
  audit_event: 'Audit event',
}

export type Member = readonly [name: string, value: unknown]

export function titleOf(object: ProtocolObject): string {
  return TITLES[object.object_type]
}

/** The sentence that says what the object is about. */
export function leadOf(object: ProtocolObject): string {
  if (object.object_type === 'reasoning_package') return object.reasoning.summary
  if (object.object_type === 'response_object') return object.response_summary
  if (object.object_type === 'loop_thread') return `${object.thread_type}: ${object.phase}`
  if (object.object_type === 'policy_envelope') return object.purpose
  if (object.object_type === 'network_story') return object.summary
  return object.decision ?? object.event_type
}

/** Every member of an object, unknown ones too: those for people, and those for programs. */
export function outlineOf(object: ProtocolObject): {
  readonly content: readonly Member[]
  readonly technical: readonly Member[]
} {
  const members = Object.entries(object)
  return {
    content: inReadingOrder(members.filter(([name]) => !TECHNICAL.has(name))),
    technical: inReadingOrder(members.filter(([name]) => TECHNICAL.has(name))),
  }
}

export function inReadingOrder(members: readonly Member[]): readonly Member[] {
  return members.toSorted(([left], [right]) => rankOf(left) - rankOf(right))
}

export function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function rankOf(name: string): number {
  const rank = FIRST.indexOf(name)
  if (rank >= 0) return rank
  return /_(?:id|refs)$/u.test(name) ? FIRST.length + 1 : FIRST.length
}
