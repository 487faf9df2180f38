import type { ProtocolObject } from '@agent-exchange/protocol'
import { html, visible, type Html } from '@agent-exchange/web'
import { MAXIMUM_SHOWN_DEPTH } from './desk-limits.ts'

/** Members for programs. They are shown below the others. */
const TECHNICAL: ReadonlySet<string> = new Set([
  'id',
  'object_type',
  'protocol_version',
  'schema_version',
  'created_at',
  'created_by',
  'trace',
  'thread_id',
])

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

/** An object for people. Every member is shown, unknown ones too, and every value is text. */
export function objectView(object: ProtocolObject): Html {
  const members = Object.entries(object)
  const technical = members.filter(([name]) => TECHNICAL.has(name))
  const others = members.filter(([name]) => !TECHNICAL.has(name))
  return html`<p class="lead">${textOf(leadOf(object))}</p>
    ${memberList(others, 0)}
    <details>
      <summary>Ids, versions and times</summary>
      ${memberList(technical, 0)}
    </details>`
}

/** JSON as it is, with invisible characters spelled out. Lines keep their order in every script. */
export function rawView(summary: string, value: unknown): Html {
  return html`<details>
    <summary>${summary}</summary>
    <pre tabindex="0"><bdi>${shownLines(JSON.stringify(value, undefined, 2))}</bdi></pre>
  </details>`
}

export function shownLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

function rankOf(name: string): number {
  const rank = FIRST.indexOf(name)
  if (rank >= 0) return rank
  return /_(?:id|refs)$/u.test(name) ? FIRST.length + 1 : FIRST.length
}

function memberList(members: readonly (readonly [string, unknown])[], depth: number): Html {
  const ordered = members.toSorted(([left], [right]) => rankOf(left) - rankOf(right))
  return html`<dl class="members">
    ${ordered.map(
      ([name, value]) =>
        html`<dt>${labelOf(name)}</dt>
          <dd>${valueView(value, depth + 1)}</dd>`,
    )}
  </dl>`
}

function valueView(value: unknown, depth: number): Html {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'boolean') return html`${value ? 'yes' : 'no'}`
  if (typeof value !== 'object' || value === null) return html`${String(value)}`
  if (depth > MAXIMUM_SHOWN_DEPTH)
    return html`<pre tabindex="0"><bdi>${shownLines(JSON.stringify(value, undefined, 2))}</bdi></pre>`
  const members = Object.entries(value as Record<string, unknown>)
  if (members.length === 0) return html`<span class="quiet">none</span>`
  if (!Array.isArray(value)) return memberList(members, depth)
  return html`<ul>
    ${members.map(([, item]) => html`<li>${valueView(item, depth + 1)}</li>`)}
  </ul>`
}

/** Text of any origin: isolated, so that it cannot reorder what is around it, and without invisible characters. */
export function textOf(text: string): Html {
  return html`<bdi class="text">${shownLines(text)}</bdi>`
}

export function labelOf(name: string): string {
  const words = visible(name).replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
