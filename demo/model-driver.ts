import { join } from 'node:path'
import type { ProtocolObject } from '@agent-exchange/protocol'
import { CommandFailure } from '../packages/cli/src/failure.ts'
import { approveByForms, type DeskVisit } from './desk-visit.ts'
import { contentOf, draft, policyOf, read, send, verify, type Drafted } from './model-actions.ts'
import { foundModelCompany, type ModelCompany } from './model-company.ts'
import { COMPANIES } from './register-agent.ts'
import type { Performance, Stage } from './stage.ts'
import type { Sent, StoryDriver } from './story.ts'
import { short, type Timeline } from './timeline.ts'

/** Plays the person at the desk. */
export type ApproveAtDesk = (visit: DeskVisit) => Promise<void>

/** Two scripted models do it all through MCP, and a person approves at the desk. */
export async function performWithModels(
  { exchange, folder, timeline, now, onWait, cleanup }: Stage,
  approve: ApproveAtDesk = approveByForms,
): Promise<Performance> {
  const { manufacturer: carmaker, supplier: seats } = COMPANIES
  const during = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    onWait?.(what)
    return work().finally(() => onWait?.(undefined))
  }
  const shared = { timeline, now, during }
  const manufacturer = cleanup.use(
    await foundModelCompany(exchange, {
      ...shared,
      ...carmaker,
      partner: seats,
      folder: join(folder, 'carmaker'),
      hasApprover: true,
    }),
  )
  const supplier = cleanup.use(
    await foundModelCompany(exchange, {
      ...shared,
      ...seats,
      partner: carmaker,
      folder: join(folder, 'seats'),
      hasApprover: false,
    }),
  )
  const desk = manufacturer.approval?.desk
  return {
    driver: await modelDriver({ manufacturer, supplier, timeline, approve }),
    counts: () => [
      {
        what: 'tool calls of two models over MCP',
        count: manufacturer.model.calls() + supplier.model.calls(),
      },
      { what: 'approval by a person at the desk', count: 1 },
    ],
    ...(desk && { deskLink: () => desk.newLink() }),
  }
}

interface ModelCast {
  readonly manufacturer: ModelCompany
  readonly supplier: ModelCompany
  readonly timeline: Timeline
  readonly approve: ApproveAtDesk
}

async function modelDriver(cast: ModelCast): Promise<StoryDriver> {
  const { manufacturer, supplier, timeline } = cast
  const [guarded, ours, theirs] = await Promise.all([
    policyOf(manufacturer, true),
    policyOf(manufacturer, false),
    policyOf(supplier, false),
  ])
  let threadId: string | undefined
  /** A package of the carmaker, in the thread of the first one. */
  const drafted = (object: ProtocolObject, policy_id: string) =>
    draft(manufacturer, timeline, 'draft_package', {
      to: supplier.agent.identity.agentId,
      object_type: object.object_type,
      policy_id,
      ...(threadId !== undefined && { thread_id: threadId }),
      content: contentOf(object),
    })
  return {
    opening: 'A demand change, reasoned by a model, approved by a person',
    agents: { manufacturer: manufacturer.agent, supplier: supplier.agent },
    async share(object) {
      const made = await drafted(object, guarded)
      await approveAndSend(cast, made, object.reasoning.summary)
      threadId = made.thread_id
      return asSent(made)
    },
    async send(object) {
      const made = await drafted(object, ours)
      await send(manufacturer, timeline, made)
      return asSent(made)
    },
    async answer(object, { packageId: package_id }) {
      const input = { package_id, policy_id: theirs, content: contentOf(object) }
      const made = await draft(supplier, timeline, 'answer_package', input)
      await send(supplier, timeline, made)
      return asSent(made)
    },
    read: (side, { packageId }) => read(cast[side], timeline, packageId),
    async takeBack({ packageId: package_id }) {
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
    },
    async verify(thread) {
      for (const company of [manufacturer, supplier]) await verify(company, timeline, thread)
    },
  }
}

const asSent = ({ thread_id, package_id, object }: Drafted): Sent => ({
  threadId: thread_id,
  packageId: package_id,
  object,
})

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
