import type { ProtocolObject } from '@agent-exchange/protocol'
import { FILLED_MEMBERS } from '@agent-exchange/mcp/content'
import { CommandFailure } from '../packages/cli/src/failure.ts'
import type { ModelCompany } from './model-company.ts'
import { short, type Timeline } from './timeline.ts'

const LOG_WAIT_SECONDS = 20

export interface Drafted {
  readonly draft_id: string
  readonly package_id: string
  readonly thread_id: string
  /** What is sealed, with the members that the server filled in. */
  readonly object: ProtocolObject
}

interface SendResult {
  readonly status: string
  readonly package_id?: string
  readonly desk_url?: string
}

/** The content of an object: what a model writes, without the members that the server fills in. */
export function contentOf(object: ProtocolObject): Record<string, unknown> {
  const filled: readonly string[] = FILLED_MEMBERS
  return Object.fromEntries(Object.entries(object).filter(([name]) => !filled.includes(name)))
}

/** Id of the company's policy that does, or does not, require a person. */
export async function policyOf({ model }: ModelCompany, needsPerson: boolean): Promise<string> {
  const { policies } = await model.result<{
    policies: readonly { policy_id: string; needs_person: boolean }[]
  }>('describe_agent')
  const found = policies.find(({ needs_person }) => needs_person === needsPerson)
  if (!found) throw new CommandFailure('The model finds no such policy.')
  return found.policy_id
}

/** Drafts by a tool and evaluates the policy. Nothing is sent. Returns what would be sealed, too. */
export async function draft(
  { lane, model }: ModelCompany,
  timeline: Timeline,
  tool: 'draft_package' | 'answer_package',
  input: object,
): Promise<Drafted> {
  const drafted = await model.result<Omit<Drafted, 'object'>>(tool, input)
  const { draft_id } = drafted
  timeline.add({ who: lane, kind: 'package', what: `${tool}: a draft, not sent`, detail: short(draft_id) })
  const { checks, content } = await model.result<{
    checks: readonly { passed: boolean }[]
    content: ProtocolObject
  }>('check_draft', { draft_id })
  const passed = checks.filter((check) => check.passed).length
  timeline.add({
    who: lane,
    kind: 'package',
    what: `check_draft: ${passed} of ${checks.length} policy checks passed`,
    detail: short(draft_id),
  })
  return { ...drafted, object: content }
}

/** Sends a draft. Returns the page of the desk if a person has to approve it first. */
export async function send(
  { lane, model }: ModelCompany,
  timeline: Timeline,
  { draft_id }: Drafted,
): Promise<string | undefined> {
  const { status, package_id, desk_url } = await model.result<SendResult>('send_draft', { draft_id })
  if (status === 'waiting_for_person') {
    timeline.add({
      who: lane,
      kind: 'decision',
      what: 'send_draft: waiting for a person; nothing was sent',
      detail: short(draft_id),
    })
    return desk_url
  }
  timeline.add({
    who: lane,
    to: 'exchange',
    kind: 'package',
    what: 'send_draft: sealed, signed, accepted',
    detail: short(package_id ?? ''),
  })
  return undefined
}

/** Finds a package in the inbox, reads it, and marks its event as handled. Returns the number of signed receipts. */
export async function read(
  { lane, model }: ModelCompany,
  timeline: Timeline,
  package_id: string,
): Promise<number> {
  const { events } = await model.result<{
    events: readonly { event_id: string; package_id: string; event_type: string; sequence: number }[]
  }>('list_inbox')
  const event = events.find(
    (each) => each.package_id === package_id && each.event_type === 'package.accepted',
  )
  if (!event) throw new CommandFailure('The package is not in the inbox of its recipient.')
  timeline.add({
    who: 'exchange',
    to: lane,
    kind: 'event',
    what: `list_inbox: ${event.event_type} #${event.sequence}`,
    detail: short(package_id),
  })
  const { provenance } = await model.result<{
    provenance: { object_type: string; receipts_sent: readonly string[]; signing_key_fingerprint: string }
  }>('read_package', { package_id })
  timeline.add({
    who: 'exchange',
    to: lane,
    kind: 'package',
    what: `read_package: a ${provenance.object_type}, verified, untrusted`,
    detail: `signed by ${provenance.signing_key_fingerprint.slice(0, 12)}…`,
  })
  timeline.add({
    who: lane,
    to: 'exchange',
    kind: 'receipt',
    what: `signed receipts: ${provenance.receipts_sent.join(', ')}`,
    detail: short(package_id),
  })
  await model.result('finish_event', { event_id: event.event_id })
  return provenance.receipts_sent.length
}

/** Lets the model verify the evidence of a thread. */
export async function verify(
  { lane, model }: ModelCompany,
  timeline: Timeline,
  thread_id: string,
): Promise<void> {
  const { level, contradictions } = await model.result<{
    level?: string
    contradictions: readonly string[]
  }>('verify_capsule', { thread_id, wait_seconds: LOG_WAIT_SECONDS })
  const found = contradictions.length === 0 ? 'no contradictions' : contradictions.join(', ')
  timeline.add({
    who: lane,
    kind: 'proof',
    what: `verify_capsule: ${found}`,
    detail: `evidence level ${level ?? 'none'}`,
  })
}
