import { randomBytes } from 'node:crypto'
import { ENVELOPE_MEMBERS, schemaDocument, validateObject } from '@agent-exchange/protocol'
import { ExchangeError, type OpenedPackage } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import { button, CSRF_FIELD, html, notice, type Notice } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { objectView } from './object-view.ts'
import { formParts, membersFrom, objectOf, partView, type FormValues } from './schema-form.ts'

const SCHEMA = schemaDocument('response_object')
/** Members that the desk fills in, and free objects without names in use. */
const OMITTED: ReadonlySet<string> = new Set([
  ...ENVELOPE_MEMBERS,
  'responds_to_package_id',
  'policy_envelope',
  'policy_decline',
  'boundaries.disclosure_level',
])
const PARTS = formParts(SCHEMA, OMITTED)
const PURPOSE = 'answer of a person at the desk'
const FORM = 'answer'

/** The package, and a form for the response. */
export async function answerPage(
  call: DeskCall,
  problem?: Notice,
  errors = new Map<string, string>(),
): Promise<DeskAnswer> {
  const { id, fields, csrfToken } = call
  const opened = await readOpened(call)
  const values: FormValues = { fields, errors }
  return {
    kind: 'page',
    title: 'Answer',
    section: 'overview',
    ...(problem && { status: 422 }),
    main: html`<details class="package theirs">
        <summary>
          The package, from ${opened.metadata.sender_agent_id} of ${opened.metadata.sender_org_id}
        </summary>
        ${objectView(opened.object)}
      </details>
      ${problem && notice(problem)}
      <form id="${FORM}" action="${pathTo('packages', id, '/answer')}" method="post">
        <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
        ${PARTS.map((part) => partView(FORM, part, values))}
        <p class="hint">The answer becomes a draft. Nothing is sent before you approve it.</p>
        <p class="actions">${button({ label: 'Make the draft', tone: 'primary' })}</p>
      </form>`,
  }
}

/** Makes a draft of the answer under the default policy of the folder, if it has one. It always needs an approval. */
export async function makeAnswer(call: DeskCall): Promise<DeskAnswer> {
  const { agent, id, fields, now } = call
  const { metadata } = await readOpened(call)
  const terms = {
    by: agent.identity,
    to: metadata.sender_org_id,
    now,
    threadId: metadata.thread_id,
    about: id,
  }
  const policy = (await agent.defaultPolicy()) ?? { ...newObject('policy_envelope', terms), purpose: PURPOSE }
  const basis = newObject('response_object', { ...terms, policyId: policy.policy_id })
  const members = membersFrom(PARTS, fields, (member) => randomId(member.replace(/_id$/u, '')))
  const object = {
    ...basis,
    ...members,
    boundaries: { ...basis.boundaries, ...objectOf(members['boundaries']) },
    policy_envelope: { policy_id: policy.policy_id, purpose: policy.purpose },
  }
  const { failures, valid } = validateObject(object, agent.profile)
  const empty = members['response_summary'] === ''
  if (!valid || empty) {
    const errors = new Map(
      failures.map(({ pointer, message }) => [pointer.slice(1).replaceAll('/', '.'), message]),
    )
    if (empty) errors.set('response_summary', 'Say what the answer is.')
    return answerPage(
      call,
      { tone: 'bad', title: 'No draft was made.', text: 'Correct what is marked.' },
      errors,
    )
  }
  const skill = { id: metadata.skill_id, version: metadata.skill_version }
  const draft = await agent.drafts.create({ respondsTo: id, object, policy, skill, requireApproval: true })
  return { kind: 'redirect', to: pathTo('drafts', draft.draftId), done: 'drafted' }
}

/** Only what was opened is answered: reading it here sends no receipt. */
async function readOpened({ agent, id }: DeskCall): Promise<OpenedPackage> {
  const opened = await agent.open(id, { receipts: 'none' })
  if (opened.metadata.recipient_agent_id !== agent.identity.agentId)
    throw new ExchangeError('package_not_for_us', { details: { packageId: id } })
  return opened
}

function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(16).toString('hex')}`
}
