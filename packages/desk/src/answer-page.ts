import { html, notice, type Html, type Notice } from '@agent-exchange/web'
import { answerFrom } from './made-answer.ts'
import { readAnswered, type AnsweredPackage } from './answered-package.ts'
import { TASKS, type AnswerTaskId } from './answer-tasks.ts'
import {
  composedResult,
  composeForm,
  fieldErrors,
  resultRegion,
  stepOf,
  type Composed,
} from './composition.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { COMPOSE_TEXTS, TASK_TEXTS } from './texts/answer-texts.ts'
import { withAddedRow } from './form-rows.ts'
import type { FormValues } from './form-view.ts'
import { objectView } from './object-view.ts'
import { storyPageWith } from './story-page.ts'

const FORM = 'answer'

/** The story of the thread with the form of one task in it. The address may name an option or a fact. */
export function answerPage(task: AnswerTaskId) {
  return async (call: DeskCall): Promise<DeskAnswer> => {
    const answered = await readAnswered(call)
    const fields = new URLSearchParams()
    const option = call.query.get('option')
    const fact = call.query.get('fact')
    if (option !== null) fields.set('option', option)
    if (fact !== null) fields.set('points.0.fact', fact)
    return pageWith(call, answered, { task, values: { fields, errors: new Map() } })
  }
}

/** Adds a row, shows the preview and the checks, or makes the draft. */
export function makeAnswer(task: AnswerTaskId) {
  return async (call: DeskCall): Promise<DeskAnswer> => {
    const answered = await readAnswered(call)
    const step = stepOf(call.fields)
    if (step === 'add') {
      const fields = withAddedRow(call.fields)
      return pageWith(call, answered, { task, values: { fields, errors: new Map() } })
    }
    const composed = await compose(call, answered, task)
    const errors = fieldErrors(call, composed)
    if (summaryIsEmpty(composed)) errors.set('response_summary', TASK_TEXTS.sayAnswer)
    if (step === 'draft' && errors.size === 0) {
      const draft = await call.agent.drafts.create(composed.input)
      return { kind: 'redirect', to: pathTo('drafts', draft.draftId), done: 'drafted' }
    }
    const result = await composedResult(call, composed, errors)
    if (step === 'live')
      return { kind: 'page', title: COMPOSE_TEXTS.check, section: 'overview', main: resultRegion(result) }
    const problem = { tone: 'bad', title: COMPOSE_TEXTS.noDraft, text: COMPOSE_TEXTS.correct } as const
    return pageWith(call, answered, {
      task,
      values: { fields: call.fields, errors },
      result,
      ...(step === 'draft' && { problem }),
    })
  }
}

function summaryIsEmpty({ unsent: { object } }: Composed): boolean {
  return object.object_type === 'response_object' && object.response_summary === ''
}

/** An answer at the desk is made under the default policy, and always needs an approval. */
async function compose(
  { agent, id, fields, now }: DeskCall,
  { opened, read, subject, policy }: AnsweredPackage,
  task: AnswerTaskId,
): Promise<Composed> {
  const { metadata, thread_id: threadId } = opened.resource
  const by = agent.identity
  const answered = { object: opened.object, threadId, packageId: id }
  const object = answerFrom(fields, { task, by, now, policy, answered, subject })
  const skill = { id: metadata.skill_id, version: metadata.skill_version }
  const to = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  return {
    input: { respondsTo: id, object, policy, skill, requireApproval: true },
    unsent: { object, from: by, to, respondsTo: id },
    thread: read.thread,
    names: await agent.names(),
  }
}

interface ShownAnswer {
  readonly task: AnswerTaskId
  readonly values: FormValues
  readonly result?: Html
  readonly problem?: Notice
}

async function pageWith(
  call: DeskCall,
  { opened, read, subject }: AnsweredPackage,
  { task, values, result, problem }: ShownAnswer,
): Promise<DeskAnswer> {
  const { title, explanation } = TASK_TEXTS.tasks[task]
  const form = composeForm(call, {
    id: FORM,
    action: pathTo('packages', call.id, `/answer/${task}#answer-part`),
    parts: TASKS[task].parts(subject),
    values,
    result,
  })
  const { sender_agent_id: agentId, sender_org_id: organizationId } = opened.resource.metadata
  const part = html`<section class="story-part act" id="answer-part">
    <h2>${title}</h2>
    <p>${explanation}</p>
    ${problem && notice(problem)}
    <details class="package theirs">
      <summary>${TASK_TEXTS.answeredPackage(subject.nameOf(organizationId), agentId)}</summary>
      ${objectView(opened.object)}
    </details>
    ${form}
  </section>`
  return storyPageWith(call, read, { answer: part, ...(problem && { status: 422 }) })
}
