import { definitionList, exactTime, html, identifier, table, type Part } from '@agent-exchange/web'
import { showPackageRoute, showThreadRoute } from '../../operator/routes/packages.ts'
import {
  liveGet,
  type ConsoleCall,
  type ConsolePage,
  type PageAnswer,
  type WatchCall,
} from '../console-page.ts'
import { packagePath, threadPath } from '../links.ts'
import { pagingLinks } from '../paging.ts'
import { packageBadge } from '../state-badges.ts'
import { packageRow, party, showPackages, watchPackages } from './package-list.ts'
import { timelineView } from './timeline-view.ts'

/** Packages whose steps one page draws; each has about a dozen. */
const PACKAGES_PER_PAGE = 4

export const packagesPages: readonly ConsolePage[] = [
  liveGet('/packages', showPackages, watchPackages),
  liveGet('/packages/:package_id', showPackage, foundPackage),
  liveGet('/threads/:thread_id', showThread, foundThread),
]

type Facts = (readonly [string, Part])[]

function foundPackage({ params, api }: WatchCall) {
  return api(showPackageRoute, { params })
}

async function showPackage(call: ConsoleCall): Promise<PageAnswer> {
  const found = await foundPackage(call)
  const answers = found.responds_to_package_id
  const facts: Facts = [
    ['Package', identifier(found.package_id)],
    ['State', packageBadge(found.state)],
    ['From', party(found.sender_org_id, found.sender_agent_id)],
    ['To', party(found.recipient_org_id, found.recipient_agent_id)],
    [
      'Thread',
      html`${identifier(found.thread_id, threadPath(found.thread_id))} (package ${found.thread_position})`,
    ],
    ...(answers === null ? [] : ([['Answers', identifier(answers, packagePath(answers))]] as Facts)),
    ['Transport', found.transport_mode],
    ['Skill', `${found.skill_id} ${found.skill_version}`],
    ['Content type', found.content_type],
    ['Content digest', identifier(found.content_digest)],
    ['Policy receipt', identifier(found.policy_receipt_id)],
    ['Signing key', identifier(found.signing_key_id)],
    ['Correlation id', identifier(found.correlation_id)],
    ['Accepted', exactTime(new Date(found.accepted_at))],
    ['Last change', exactTime(new Date(found.updated_at))],
    ['Expires', exactTime(new Date(found.expires_at))],
  ]
  const content = html`${definitionList(facts)}
    <h2>Timeline</h2>
    ${timelineView(found, 'What happened to the package')}`
  return call.show({ title: 'Package', main: call.live(found, content) })
}

function foundThread({ params, query, api }: WatchCall) {
  return api(showThreadRoute, { params, input: { after: query.get('after'), limit: PACKAGES_PER_PAGE } })
}

async function showThread(call: ConsoleCall): Promise<PageAnswer> {
  const { query, now } = call
  const after = query.get('after')
  const thread = await foundThread(call)
  const facts: Facts = [
    ['Thread', identifier(thread.thread_id)],
    ['Transport', thread.transport_mode],
    ['Created', exactTime(new Date(thread.created_at))],
    ['Packages', String(thread.package_count)],
    ['Evidence entries', String(thread.audit_count)],
  ]
  const packages = table({
    caption: 'Packages of this thread',
    columns: ['Package', 'State', 'From', 'To', 'Accepted', 'Position'].map((title) => ({ title })),
    rows: thread.packages.map((each) => [
      ...packageRow(each, now).slice(0, -1),
      String(each.thread_position),
    ]),
    paging: pagingLinks(threadPath(thread.thread_id), {}, { after, next: thread.next_cursor }),
  })
  const names = new Map(thread.packages.map((each) => [each.package_id, `package ${each.thread_position}`]))
  const content = html`${definitionList(facts)} ${packages}
    <h2>Timeline</h2>
    ${timelineView(thread, 'What happened in the thread', names)}`
  return call.show({ title: 'Thread', main: call.live(thread, content) })
}
