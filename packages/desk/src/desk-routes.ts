import { resourceId, validatorOf } from '@agent-exchange/protocol'
import { answerPage, makeAnswer } from './answer-page.ts'
import { decide } from './decide.ts'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { draftPage } from './draft-page.ts'
import { draftsPage } from './drafts-page.ts'
import { capsuleFile, evidencePage } from './evidence-page.ts'
import { overviewPage } from './overview-page.ts'
import { orSentDraft } from './sent-draft-page.ts'
import { packagePage } from './package-page.ts'
import { storyPage } from './story-page.ts'

type Handler = (call: DeskCall) => Promise<DeskAnswer>

interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: RegExp
  readonly handle: Handler
}

/** Ids of threads and drafts, and nothing else. */
const ID = '([A-Za-z0-9_-]{1,200})'
/** A percent-encoded id of a package (O-14), decoded and validated in `idIn`. */
const PACKAGE_ID = '([^/]{1,600})'
const route = (method: Route['method'], path: string, handle: Handler): Route => ({
  method,
  path: new RegExp(`^${path.replace(':id', ID).replace(':package_id', PACKAGE_ID)}$`, 'u'),
  handle,
})

const ROUTES: readonly Route[] = [
  route('GET', '/', overviewPage),
  route('GET', '/threads/:id', storyPage),
  route('GET', '/packages/:package_id', packagePage),
  route('POST', '/packages/:package_id/open', open),
  route('POST', '/packages/:package_id/revoke', revoke),
  route('GET', '/packages/:package_id/answer', (call) => answerPage(call)),
  route('POST', '/packages/:package_id/answer', makeAnswer),
  route('GET', '/drafts', draftsPage),
  route(
    'GET',
    '/drafts/:id',
    orSentDraft((call) => draftPage(call)),
  ),
  route('POST', '/drafts/:id/decide', orSentDraft(decide)),
  route('POST', '/drafts/:id/send', orSentDraft(send)),
  route('POST', '/drafts/:id/discard', orSentDraft(discard)),
  route('GET', '/evidence/:package_id', evidencePage),
  route('GET', '/evidence/:package_id/capsule.json', capsuleFile),
]

/** The handler of an address, with the id in it. */
export function routeOf(
  method: string,
  path: string,
): { readonly handle: Handler; readonly id: string } | 'wrong_method' | undefined {
  const found = ROUTES.filter((each) => idIn(each, path) !== undefined)
  const exact = found.find((each) => each.method === method)
  if (exact) return { handle: exact.handle, id: idIn(exact, path) ?? '' }
  return found.length > 0 ? 'wrong_method' : undefined
}

/** The id in a path that the route matches; empty if the route has none. */
function idIn(from: Route, path: string): string | undefined {
  const [matched, encoded] = from.path.exec(path) ?? []
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
