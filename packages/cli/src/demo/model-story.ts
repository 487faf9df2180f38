import type { ProtocolObject } from '@agent-exchange/protocol'
import { CommandFailure } from '../failure.ts'
import type { DeskVisit } from './desk-visit.ts'
import { contentOf, draft, policyOf, read, send, type Drafted } from './model-actions.ts'
import type { ModelCompany } from './model-company.ts'
import { prove, type Told } from './story.ts'
import { agreement, alignedStory, challenge, decision, demandChange } from './story-objects.ts'
import { short, type Timeline } from './timeline.ts'

export interface ModelCast {
  readonly manufacturer: ModelCompany
  readonly supplier: ModelCompany
  readonly timeline: Timeline
  readonly now: () => Date
  /** What the exchange holds of a package, in a line. */
  readonly seen: (packageId: string) => Promise<string>
  /** The person at the desk. */
  readonly approve: (visit: DeskVisit) => Promise<void>
}

const LOG_WAIT_SECONDS = 20

/** The story of the demo, by tool calls of two models. A person approves the first package. */
export async function tellModelStory(cast: ModelCast): Promise<Told> {
  const { manufacturer, supplier, timeline, now, seen } = cast
  const parties = { manufacturer: manufacturer.agent.identity, supplier: supplier.agent.identity }
  const [guarded, ours, theirs] = await Promise.all([
    policyOf(manufacturer, true),
    policyOf(manufacturer, false),
    policyOf(supplier, false),
  ])
  const to = parties.supplier.agentId
  const quote = async ({ lane }: ModelCompany, { package_id }: Drafted, said: string) =>
    timeline.say({ who: lane, said, seen: await seen(package_id) })
  /** A package of the carmaker in the thread of the first one. */
  const drafted = (object: ProtocolObject, thread_id: string) =>
    draft(manufacturer, timeline, 'draft_package', {
      to,
      object_type: object.object_type,
      policy_id: ours,
      thread_id,
      content: contentOf(object),
    })
  const answer = async (object: ProtocolObject, { package_id }: Drafted) => {
    const input = { package_id, policy_id: theirs, content: contentOf(object) }
    const made = await draft(supplier, timeline, 'answer_package', input)
    await send(supplier, timeline, made)
    return made
  }

  timeline.chapter('A demand change, reasoned by a model, approved by a person')
  const reasoned = demandChange(parties, 'thread_unused', now())
  const shared = await draft(manufacturer, timeline, 'draft_package', {
    to,
    object_type: reasoned.object_type,
    policy_id: guarded,
    content: contentOf(reasoned),
  })
  await approveAndSend(cast, shared, reasoned.reasoning.summary)
  await quote(manufacturer, shared, reasoned.reasoning.summary)
  let receipts = await read(supplier, timeline, shared)
  const { thread_id: threadId } = shared
  const about = ({ package_id }: Drafted) => ({ threadId, packageId: package_id })

  timeline.chapter('Challenged')
  const challenging = challenge(parties, about(shared), now())
  const challenged = await answer(challenging, shared)
  await quote(supplier, challenged, challenging.response_summary)
  receipts += await read(manufacturer, timeline, challenged)

  timeline.chapter('Answered')
  const deciding = decision(parties, threadId, now())
  const answered = await drafted(deciding, threadId)
  await send(manufacturer, timeline, answered)
  await quote(manufacturer, answered, deciding.reasoning.summary)
  receipts += await read(supplier, timeline, answered)
  const agreed = await answer(agreement(parties, about(answered), now()), answered)
  receipts += await read(manufacturer, timeline, agreed)

  timeline.chapter('Aligned')
  const objects = [shared, challenged, answered, agreed].map(({ object }) => object)
  const story = alignedStory(parties, { threadId, objects }, now())
  const aligned = await drafted(story, threadId)
  await send(manufacturer, timeline, aligned)
  await quote(manufacturer, aligned, story.summary)
  receipts += await read(supplier, timeline, aligned)

  timeline.chapter('Taken back before anybody read it')
  const mistaken = await drafted(decision(parties, threadId, now()), threadId)
  await send(manufacturer, timeline, mistaken)
  await takeBack(cast, mistaken)

  timeline.chapter('Proved, without the exchange')
  for (const company of [manufacturer, supplier]) await verify(company, timeline, threadId)
  return {
    threadId,
    packageIds: [shared, challenged, answered, agreed, aligned, mistaken].map(({ package_id }) => package_id),
    receipts,
    first: shared.object,
    evidence: {
      manufacturer: await prove(manufacturer, threadId, timeline),
      supplier: await prove(supplier, threadId, timeline),
    },
  }
}

/** The model cannot send, whatever it passes. A person reads the draft at the desk and approves it there. */
async function approveAndSend(cast: ModelCast, drafted: Drafted, summary: string): Promise<void> {
  const { manufacturer, timeline, approve } = cast
  const { approval, lane, model } = manufacturer
  const page = await send(manufacturer, timeline, drafted)
  if (page === undefined || !approval) throw new CommandFailure('The draft did not wait for a person.')
  await model.refusal('send_draft', { draft_id: drafted.draft_id, approved: true })
  timeline.add({
    who: lane,
    kind: 'note',
    what: 'send_draft with “approved: true”: refused, no such argument',
  })
  await approve({
    link: approval.desk.newLink(),
    page,
    expected: summary,
    name: 'Ada Example',
    reason: 'The orders are firm.',
    passphrase: approval.passphrase,
  })
  timeline.add({
    who: lane,
    kind: 'decision',
    what: 'a person reads the draft at the desk, and approves it',
    detail: 'signed by the approver’s key, over exactly these bytes',
  })
  if ((await send(manufacturer, timeline, drafted)) !== undefined)
    throw new CommandFailure('The approved draft was not sent.')
}

async function takeBack(cast: ModelCast, { package_id }: Drafted): Promise<void> {
  const { manufacturer, supplier, timeline } = cast
  await manufacturer.model.result('revoke_package', { package_id, reason: 'sent_in_error' })
  timeline.add({
    who: 'manufacturer',
    to: 'exchange',
    kind: 'decision',
    what: 'revoke_package: revoked, signed',
    detail: short(package_id),
  })
  const refusal = await supplier.model.refusal('read_package', { package_id })
  const [, code = 'refused'] = /\((\w+)\)/u.exec(refusal) ?? []
  timeline.add({ who: 'supplier', kind: 'note', what: 'read_package: refused', detail: code })
}

async function verify({ lane, model }: ModelCompany, timeline: Timeline, thread_id: string): Promise<void> {
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
