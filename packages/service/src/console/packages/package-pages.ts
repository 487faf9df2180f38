import {
  definitionList,
  exactTime,
  html,
  identifier,
  pagingNavigation,
  shortIdentifier,
  visible,
  type Html,
  type Part,
} from '@agent-exchange/web'
import { showPackageRoute, showThreadRoute } from '../../operator/routes/packages.ts'
import {
  liveGet,
  type ConsoleCall,
  type ConsolePage,
  type PageAnswer,
  type WatchCall,
} from '../console-page.ts'
import { packagePath, threadPath } from '../links.ts'
import { nameOf, namesOf, party, type Names } from '../organization-names.ts'
import { pagingLinks } from '../paging.ts'
import { packageBadge } from '../state-badges.ts'
import { showPackages, watchPackages } from './package-list.ts'
import { timelineView, type StepGroup } from './timeline-view.ts'

/** Packages whose steps one page draws; each has about a dozen. */
const PACKAGES_PER_PAGE = 4

export const packagesPages: readonly ConsolePage[] = [
  liveGet('/packages', showPackages, watchPackages),
  liveGet('/packages/:package_id', showPackage, foundPackage),
  liveGet('/threads/:thread_id', showThread, foundThread),
]

type Facts = (readonly [string, Part])[]
type Thread = Awaited<ReturnType<typeof showThreadRoute.run>>
type ThreadPackage = Thread['packages'][number]

function foundPackage({ params, api }: WatchCall) {
  return api(showPackageRoute, { params })
}

async function showPackage(call: ConsoleCall): Promise<PageAnswer> {
  const found = await foundPackage(call)
  const names = await namesOf(call.api, partiesOf(found))
  const answers = found.responds_to_package_id
  const facts: Facts = [
    ['State', packageBadge(found.state)],
    ['From', party(names, found.sender_org_id, found.sender_agent_id)],
    ['To', party(names, found.recipient_org_id, found.recipient_agent_id)],
    [
      'Thread',
      html`package ${found.thread_position} of
      ${shortIdentifier(found.thread_id, threadPath(found.thread_id))}`,
    ],
    ...(answers === null ? [] : ([['Answers', shortIdentifier(answers, packagePath(answers))]] as Facts)),
    ['Skill', visible(`${found.skill_id} ${found.skill_version}`)],
    ['Transport', found.transport_mode],
    ['Accepted', exactTime(new Date(found.accepted_at))],
    ['Last change', exactTime(new Date(found.updated_at))],
    ['Expires', exactTime(new Date(found.expires_at))],
  ]
  const ids: Facts = [
    ['Package', identifier(found.package_id)],
    ['Thread', identifier(found.thread_id, threadPath(found.thread_id))],
    ['Content type', visible(found.content_type)],
    ['Content digest', identifier(found.content_digest)],
    ['Policy receipt', identifier(found.policy_receipt_id)],
    ['Signing key', identifier(found.signing_key_id)],
    ['Correlation id', identifier(found.correlation_id)],
  ]
  const timeline: StepGroup = { label: 'What happened to the package', holds: () => true }
  const content = html`${definitionList(facts)}
    <h2>Timeline</h2>
    ${timelineView(found, [timeline], names)}
    <h2>Ids</h2>
    ${definitionList(ids)}`
  return call.show({
    title: `Package: ${directionOf(found, names)}`,
    main: call.live(found, content),
  })
}

function foundThread({ params, query, api }: WatchCall) {
  return api(showThreadRoute, { params, input: { after: query.get('after'), limit: PACKAGES_PER_PAGE } })
}

async function showThread(call: ConsoleCall): Promise<PageAnswer> {
  const after = call.query.get('after')
  const thread = await foundThread(call)
  const parties = [...new Set(thread.packages.flatMap(partiesOf))]
  const names = await namesOf(call.api, parties)
  const facts: Facts = [
    ['Thread', identifier(thread.thread_id)],
    ['Created', exactTime(new Date(thread.created_at))],
    ['Packages', String(thread.package_count)],
    ['Transport', thread.transport_mode],
    ['Evidence entries', String(thread.audit_count)],
  ]
  const groups: StepGroup[] = [
    ...thread.packages.map((each) => ({
      label: `Package ${each.thread_position}`,
      heading: packageHeading(each, names),
      holds: ({ package_id }: { package_id?: string }) => package_id === each.package_id,
    })),
    {
      label: 'Changes of keys',
      heading: html`<h3>Changes of keys</h3>`,
      holds: ({ package_id }) => package_id === undefined,
    },
  ]
  const paging = pagingLinks(threadPath(thread.thread_id), {}, { after, next: thread.next_cursor })
  const content = html`${definitionList(facts)}
    <h2>Timeline</h2>
    ${timelineView(thread, groups, names)} ${pagingNavigation('Packages of this thread', paging)}`
  const title =
    parties.length === 0
      ? 'Thread'
      : `Thread between ${parties.map((id) => visible(nameOf(names, id))).join(' and ')}`
  return call.show({ title, main: call.live(thread, content) })
}

function packageHeading(each: ThreadPackage, names: Names): Html {
  const title = `${each.thread_position}. ${directionOf(each, names)}`
  return html`<h3><bdi>${title}</bdi> ${packageBadge(each.state)}</h3>
    <p class="quiet">
      ${exactTime(new Date(each.accepted_at))} ·
      ${shortIdentifier(each.package_id, packagePath(each.package_id))}
    </p>`
}

type Parties = Pick<ThreadPackage, 'sender_org_id' | 'recipient_org_id'>

function partiesOf({ sender_org_id, recipient_org_id }: Parties): string[] {
  return [sender_org_id, recipient_org_id]
}

function directionOf({ sender_org_id, recipient_org_id }: Parties, names: Names): string {
  return `${visible(nameOf(names, sender_org_id))} to ${visible(nameOf(names, recipient_org_id))}`
}
