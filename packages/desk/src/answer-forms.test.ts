import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects, validateObject, type ResponseObject } from '@agent-exchange/protocol'
import { threadStory, type ThreadObjects } from '@agent-exchange/sdk'
import { makersOf } from '@agent-exchange/sdk/internal'
import { previewView, storyOfUnsent } from './answer-preview.ts'
import { ANSWER_TASKS, TASKS, type AnswerContent, type AnswerTaskId } from './answer-tasks.ts'
import { MAXIMUM_ROWS } from './desk-limits.ts'
import { rowCount, withAddedRow } from './form-rows.ts'
import { partView } from './form-view.ts'
import { answerFrom } from './made-answer.ts'

const now = new Date('2026-03-04T08:00:00Z')
const carmaker = { organizationId: 'org_manufacturer', agentId: 'agent_manufacturer' }
const supplier = { organizationId: 'org_supplier', agentId: 'agent_supplier' }
const policy = exampleObjects.policy_envelope
const answeredObject = {
  ...exampleObjects.response_object,
  options: [
    { option_id: 'option_a', summary: 'Build variant A first.' },
    { option_id: 'option_b', summary: 'Build variant B first.' },
  ],
}
const packageId = 'pkg_answered'
const thread = (object: unknown = answeredObject): ThreadObjects => ({
  threadId: answeredObject.thread_id,
  reader: carmaker.organizationId,
  packages: [
    {
      packageId,
      state: 'opened',
      sentBy: supplier,
      sentTo: carmaker,
      sentAt: '2026-03-03T08:00:00Z',
      content: { object },
    },
  ],
})

function subjectOf(from = thread()) {
  const { facts, options, companies } = threadStory(from, now)
  const others = companies.filter(({ isReader }) => !isReader)
  return { facts, options, companies: others, nameOf: (id: string) => id, policy }
}

const answered = {
  packageId,
  object: answeredObject,
  threadId: answeredObject.thread_id,
}

function madeFrom(task: AnswerTaskId, fields: Record<string, string>): ResponseObject {
  const newId = (member: string) => `${member.replace(/_id$/u, '')}_new`
  const terms = { task, by: carmaker, now, policy, answered, subject: subjectOf(), newId }
  return answerFrom(new URLSearchParams(fields), terms)
}

/** What a program writes, with the ids that differ each time taken from the other object. */
function madeBy(program: AnswerContent, like: ResponseObject): ResponseObject {
  const made = makersOf(() => ({ by: carmaker, now, policy })).responseObject({
    to: { packageId, threadId: answeredObject.thread_id, objectId: answeredObject.id },
    boundaries: { disclosure_level: policy.granularity.level, not_disclosed: [] },
    ...program,
  })
  return { ...made, id: like.id, trace: like.trace }
}

const CASES: Readonly<
  Record<AnswerTaskId, { readonly fields: Record<string, string>; readonly program: AnswerContent }>
> = {
  accept: {
    fields: { option: 'option_b', response_summary: 'From week 12.' },
    program: {
      summary: 'We accept the option “Build variant B first.” (option_b). From week 12.',
      actions: ['agree'],
    },
  },
  challenge: {
    fields: {
      'points.rows': '2',
      'points.0.fact': 'fact_variant_stock',
      'points.1.words': 'both variants are short',
      'added_facts.0.statement': 'Stock lasts until week 14.',
      'added_facts.0.evidence_refs': 'ev_count\r\nev_photo',
      'added_facts.0.sensitivity': 'internal',
      response_summary: 'The stock is higher.',
    },
    program: {
      summary: 'The stock is higher.',
      actions: ['challenge', 'add_context'],
      agreement: {
        agrees_with_sender_summary: false,
        challenged_points: ['fact_variant_stock', 'both variants are short'],
      },
      added_facts: [
        {
          fact_id: 'fact_new',
          statement: 'Stock lasts until week 14.',
          evidence_refs: ['ev_count', 'ev_photo'],
          sensitivity: 'internal',
        },
      ],
    },
  },
  constraint: {
    fields: {
      'constraints.rows': '2',
      'constraints.0.constraint_type': 'capacity',
      'constraints.0.scope': 'line 2',
      'constraints.0.severity': 'high',
      'constraints.0.time_impact': 'weeks 12 to 14',
      response_summary: 'Line 2 is full.',
    },
    program: {
      summary: 'Line 2 is full.',
      actions: ['provide_constraint'],
      constraints: [
        { constraint_type: 'capacity', scope: 'line 2', severity: 'high', time_impact: 'weeks 12 to 14' },
      ],
    },
  },
  options: {
    fields: {
      'options.rows': '2',
      'options.0.summary': 'A',
      'options.1.summary': 'B',
      response_summary: 'Two ways.',
    },
    program: {
      summary: 'Two ways.',
      actions: ['provide_option'],
      options: [
        { option_id: 'option_new', summary: 'A' },
        { option_id: 'option_new', summary: 'B' },
      ],
    },
  },
  decision: {
    fields: {
      'recipient_request.requested_from': 'org_supplier',
      'recipient_request.summary': 'Release air freight?',
      'recipient_request.deadline': '2026-03-10',
      'options.0.summary': 'Release it.',
      response_summary: 'This needs a person.',
      'boundaries.not_disclosed': 'line rates',
    },
    program: {
      summary: 'This needs a person.',
      actions: ['request_human_decision', 'provide_option'],
      recipient_request: {
        request_type: 'human_decision',
        requested_from: 'org_supplier',
        summary: 'Release air freight?',
        deadline: '2026-03-10T23:59:59Z',
      },
      options: [{ option_id: 'option_new', summary: 'Release it.' }],
      boundaries: { disclosure_level: policy.granularity.level, not_disclosed: ['line rates'] },
    },
  },
  decline: {
    fields: { response_summary: 'We cannot share this.' },
    program: {
      summary: 'We cannot share this.',
      actions: ['decline_with_policy'],
      policy_decline: { policy_id: policy.policy_id },
    },
  },
  free: {
    fields: { 'response_actions.propose_action': 'on', response_summary: 'Shift one week.' },
    program: { summary: 'Shift one week.', actions: ['propose_action'] },
  },
}

for (const task of ANSWER_TASKS)
  test(`[OBJ-06] the form "${task}" makes the object that a program would make`, () => {
    const { fields, program } = CASES[task]
    const made = madeFrom(task, fields)
    assert.deepEqual(validateObject(made).failures, [])
    assert.deepEqual(made, madeBy(program, made))
  })

test('the preview is what the other side will read of the answer, and nothing else', () => {
  const object = madeFrom('challenge', CASES.challenge.fields)
  const unsent = { object, from: carmaker, to: supplier, respondsTo: packageId }
  const story = storyOfUnsent(thread(), unsent, now)
  assert.deepEqual(
    story.disputed.map(({ text }) => [text.text, text.isReaders]),
    [
      ['One of the two variants can wait; the other cannot.', true],
      ['both variants are short', false],
      ['fact_variant_stock', false],
    ],
  )
  assert.deepEqual(story.options, [])
  const shown = String(previewView(story, { org_manufacturer: 'Carmaker' }))
  assert.match(shown, /Stock lasts until week 14/u)
  assert.doesNotMatch(shown, /Build variant A first/u)
  assert.doesNotMatch(shown, /packages\/unsent/u)
})

test('markup in what the other company offers is text in every form', () => {
  const markup = `"><img src=x onerror=alert(1)>\u202e`
  const hostile = thread({
    ...answeredObject,
    options: [{ option_id: markup, summary: markup }],
    added_facts: [{ fact_id: markup, statement: markup, evidence_refs: [markup] }],
  })
  const subject = subjectOf(hostile)
  assert.deepEqual([subject.facts.length, subject.options.length], [1, 1])
  for (const task of ANSWER_TASKS) {
    const fields = new URLSearchParams()
    for (const { name } of TASKS[task].parts(subject)) fields.set(name, markup)
    const shown = TASKS[task]
      .parts(subject)
      .map((part) => String(partView('answer', part, { fields, errors: new Map([['option', markup]]) })))
      .join('')
    assert.doesNotMatch(shown, /<img/u, task)
  }
})

test('a list grows by a row at a time, up to its limit', () => {
  let fields = new URLSearchParams({ add: 'options', 'options.0.summary': 'A' })
  for (let pressed = 0; pressed < MAXIMUM_ROWS + 3; pressed++) fields = withAddedRow(fields)
  assert.equal(rowCount(fields, 'options'), MAXIMUM_ROWS)
  assert.equal(fields.get('options.0.summary'), 'A')
  for (const forged of ['-1', '1e9', 'x', '2.5'])
    assert.ok(rowCount(new URLSearchParams({ 'options.rows': forged }), 'options') <= MAXIMUM_ROWS)
})
