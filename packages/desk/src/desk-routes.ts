import { resourceId, validatorOf } from '@agent-exchange/protocol'
import { answerPage, makeAnswer } from './answer-page.ts'
import { ANSWER_TASKS } from './answer-tasks.ts'
import { decide } from './decide.ts'
import { pathTo, type AgentRoute, type DeskAnswer, type DeskCall } from './desk-call.ts'
import {
  CONTENT_ROLES,
  DESK_ROLES,
  DISCLOSING_ROLES,
  EVIDENCE_ROLES,
  SENDING_ROLES,
  type DeskRoles,
} from './desk-person.ts'
import { draftPage } from './draft-page.ts'
import { draftsPage } from './drafts-page.ts'
import { PACKAGE_TEMPLATES } from './conversation-templates.ts'
import { capsuleFile, disclosingFile, evidencePage, reportFile } from './evidence-page.ts'
import { conversationPage, makeConversation, templatesPage } from './new-conversation-page.ts'
import { searchPage } from './search-page.ts'
import { confirmDecision } from './passkey-decision.ts'
import { orSentDraft } from './sent-draft-page.ts'
import { packagePage } from './package-page.ts'
import { startPage } from './start-page.ts'
import { storyPage } from './story-page.ts'

/** Ids of threads, drafts and people, and nothing else. */
const ID = '([A-Za-z0-9_-]{1,200})'
/** A percent-encoded id of a package (O-14), decoded and validated in `idIn`. */
const PACKAGE_ID = '([^/]{1,600})'

const route = (
  method: AgentRoute['method'],
  path: string,
  roles: DeskRoles,
  handle: AgentRoute['handle'],
): AgentRoute => ({ method, path, roles, handle })

/** Every page of an agent, with the roles that may use it. */
export const AGENT_ROUTES: readonly AgentRoute[] = [
  route('GET', '/', DESK_ROLES, startPage),
  route('GET', '/threads/:id', CONTENT_ROLES, storyPage),
  route('GET', '/packages/:package_id', CONTENT_ROLES, packagePage),
  route('POST', '/packages/:package_id/open', ['planner'], open),
  route('POST', '/packages/:package_id/revoke', ['planner'], revoke),
  ...ANSWER_TASKS.flatMap((task) => [
    route('GET', `/packages/:package_id/answer/${task}`, ['planner'], answerPage(task)),
    route('POST', `/packages/:package_id/answer/${task}`, ['planner'], makeAnswer(task)),
  ]),
  route('GET', '/drafts', CONTENT_ROLES, draftsPage),
  route(
    'GET',
    '/drafts/:id',
    CONTENT_ROLES,
    orSentDraft((call) => draftPage(call)),
  ),
  // A reader may be the delegate of an approver: whoever decides by passkey is checked for each draft.
  route('POST', '/drafts/:id/decide', CONTENT_ROLES, orSentDraft(decide)),
  route('POST', '/drafts/:id/confirm', CONTENT_ROLES, orSentDraft(confirmDecision)),
  route('POST', '/drafts/:id/send', SENDING_ROLES, orSentDraft(send)),
  route('POST', '/drafts/:id/discard', ['planner'], orSentDraft(discard)),
  route('GET', '/evidence/:package_id', EVIDENCE_ROLES, evidencePage),
  route('GET', '/evidence/:package_id/capsule.json', EVIDENCE_ROLES, capsuleFile),
  route('GET', '/evidence/:package_id/report.html', EVIDENCE_ROLES, reportFile),
  route('POST', '/evidence/:id/with-content.json', DISCLOSING_ROLES, disclosingFile),
  route('GET', '/search', CONTENT_ROLES, searchPage),
  route('GET', '/new', ['planner'], templatesPage),
  ...PACKAGE_TEMPLATES.flatMap((template) => [
    route('GET', `/new/${template}`, ['planner'], conversationPage(template)),
    route('POST', `/new/${template}`, ['planner'], makeConversation(template)),
  ]),
]

/** The route of an address, with the id in it. */
export function routeOf<Found extends Pick<AgentRoute, 'method' | 'path'>>(
  routes: readonly Found[],
  method: string,
  path: string,
): { readonly route: Found; readonly id: string } | 'wrong_method' | undefined {
  const found = routes.filter((each) => idIn(each.path, path) !== undefined)
  const exact = found.find((each) => each.method === method)
  if (exact) return { route: exact, id: idIn(exact.path, path) ?? '' }
  return found.length > 0 ? 'wrong_method' : undefined
}

/** The id in a path that the template matches; empty if the template has none. */
function idIn(template: string, path: string): string | undefined {
  const pattern = template.replace(':id', ID).replace(':package_id', PACKAGE_ID)
  const [matched, encoded] = new RegExp(`^${pattern}$`, 'u').exec(path) ?? []
  if (matched === undefined || encoded === undefined) return matched && ''
  const id = decoded(encoded)
  return validatorOf(resourceId).accepts(id) ? id : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

async function open({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const { metadata } = await agent.open(id)
  return { kind: 'redirect', to: pathTo('threads', metadata.thread_id), done: 'opened' }
}

async function revoke({ agent, id, fields }: DeskCall): Promise<DeskAnswer> {
  const reasonCode = fields.get('reason_code') ?? ''
  const reasonDetail = fields.get('reason_detail') ?? ''
  await agent.revoke(id, { reasonCode, reasonDetail })
  const { thread_id } = await agent.package(id)
  return { kind: 'redirect', to: pathTo('threads', thread_id), done: 'revoked' }
}

async function send({ agent, id }: DeskCall): Promise<DeskAnswer> {
  const { threadId } = await agent.drafts.send(id)
  return { kind: 'redirect', to: pathTo('threads', threadId), done: 'sent' }
}

async function discard({ agent, id }: DeskCall): Promise<DeskAnswer> {
  await agent.drafts.discard(id)
  return { kind: 'redirect', to: '/drafts', done: 'discarded' }
}
