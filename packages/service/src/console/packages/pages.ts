import { definitionList, exactTime, html, identifier, table, type Part } from '@agent-exchange/web'
import { showPackageRoute, showThreadRoute } from '../../operator/routes/packages.ts'
import { get, type ConsoleCall, type ConsolePage, type PageAnswer } from '../console-page.ts'
import { packagePath, threadPath } from '../links.ts'
import { pagingLinks } from '../paging.ts'
import { packageBadge } from '../state-badges.ts'
import { packageRow, party, showPackages } from './package-list.ts'
import { timelineView } from './timeline-view.ts'

/** Packages whose steps one page draws; each has about a dozen. */
const PACKAGES_PER_PAGE = 4

export const packagesPages: readonly ConsolePage[] = [
  get('/packages', showPackages),
  get('/packages/:package_id', showPackage),
  get('/threads/:thread_id', showThread),
]

type Facts = (readonly [string, Part])[]

async function showPackage({ params, api, show }: ConsoleCall): Promise<PageAnswer> {
  const { steps, is_complete, ...found } = await api(showPackageRoute, { params })
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
  return show({
    title: 'Package',
    main: html`${definitionList(facts)}
      <h2>Timeline</h2>
      ${timelineView({ steps, is_complete }, 'What happened to the package')}`,
  })
}

async function showThread({ params, query, api, show, now }: ConsoleCall): Promise<PageAnswer> {
  const after = query.get('after')
  const thread = await api(showThreadRoute, { params, input: { after, limit: PACKAGES_PER_PAGE } })
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
  return show({
    title: 'Thread',
    main: html`${definitionList(facts)} ${packages}
      <h2>Timeline</h2>
      ${timelineView(thread, 'What happened in the thread', names)}`,
  })
}
