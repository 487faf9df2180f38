import {
  badge,
  definitionList,
  html,
  linePlot,
  named,
  notice,
  shortId,
  shortIdentifier,
  table,
  visible,
  type Html,
} from '@agent-exchange/web'
import { readOrganizations } from '../../operator/routes/organizations.ts'
import { readOverviewRoute } from '../../operator/routes/overview.ts'
import { liveGet, type ConsoleCall, type ConsolePage, type WatchCall } from '../console-page.ts'
import { bytesText } from '../bytes-text.ts'
import { outsideText } from '../console-parts.ts'
import { firstSteps, isFirstRun } from '../first-run.ts'
import { endpointPath, organizationPath } from '../links.ts'
import { timeOf } from '../time.ts'
import { activityPlots } from './activity-plots.ts'

type Overview = Awaited<ReturnType<(typeof readOverviewRoute)['run']>>

/** A key that ends later is no news. */
const KEY_DAYS = 90
const DAY_MS = 86_400_000

export const overviewPages: readonly ConsolePage[] = [liveGet('/', show, watch)]

async function watch({ api }: WatchCall): Promise<object> {
  return watchedFacts(await api(readOverviewRoute), await isUnused(api))
}

/** Two are enough to know. */
async function isUnused(api: WatchCall['api']): Promise<boolean> {
  return isFirstRun(await api(readOrganizations, { input: { limit: 2 } }))
}

/** Without what changes by itself as time passes. */
function watchedFacts(overview: Overview, isFirst: boolean): object {
  const { status, backlog, keys, log, hour, processes: running } = overview
  const { dead_letters, failed_deliveries, disabled_endpoints, failing_endpoints } = overview
  return {
    isFirst,
    facts: [status, backlog, keys],
    trouble: [dead_letters, failed_deliveries, disabled_endpoints, failing_endpoints],
    log: [log.state, log.published_size, log.witnesses.map(({ outcome }) => outcome)],
    activity: hour.at(-1),
    processes: running.map(({ process_id }) => process_id),
  }
}

async function show({ api, query, now, show: page, live, operator }: ConsoleCall) {
  const overview = await api(readOverviewRoute)
  const isFirst = await isUnused(api)
  const period = query.get('period') === 'day' ? 'day' : 'hour'
  const content = html`${health(overview)} ${isFirst && firstSteps(operator)} ${facts(overview, now)}
  ${endpoints(overview, now)}
  ${
    !isFirst &&
    html`<h2 id="activity">Activity</h2>
      ${periodLinks(period)}
      <div class="plots">${activityPlots(overview[period], period).map(linePlot)}</div>`
  }
  ${processes(overview, now)}`
  return page({ title: 'Overview', main: live(watchedFacts(overview, isFirst), content) })
}

/** One sentence, and a link to where each thing is mended. */
function health({ issues, status }: Overview): Html {
  if (issues.length === 0)
    return notice({
      tone: 'good',
      title: 'Healthy. Packages are accepted and delivered, and the log is up to date.',
    })
  const tone = status === 'failing' ? 'bad' : 'warn'
  const title = issues.length === 1 ? '1 thing needs attention.' : `${issues.length} things need attention.`
  const items = issues.map(
    ({ text, href, severity }) =>
      html`${severity === 'bad' && html`<strong>Now: </strong>`}<a href="${href}"
          ><bdi>${visible(text)}</bdi></a
        >`,
  )
  return notice({ tone, title, items })
}

function facts(overview: Overview, now: Date): Html {
  const { backlog, dead_letters, failed_deliveries, log, keys, processes: running, database_bytes } = overview
  const disks = running.flatMap(({ disk_free_bytes: free, disk_total_bytes: total }) =>
    free === null || total === null ? [] : [{ free, total }],
  )
  const certificate = running
    .map(({ certificate_expires_at }) => certificate_expires_at)
    .filter((end) => end !== null)
    .toSorted()[0]
  return definitionList([
    [
      'Backlog',
      backlog.oldest_due_at === null
        ? html`${badge('good', 'nothing is due')} ${pendingText(backlog.pending)}`
        : html`the oldest is due since ${timeOf(backlog.oldest_due_at, now)}; ${pendingText(backlog.pending)}`,
    ],
    [
      'Dead letters',
      dead_letters === 0
        ? badge('good', 'none in 24 hours')
        : html`<a href="/deliveries?state=dead">${badge('warn', `${dead_letters} in 24 hours`)}</a>`,
    ],
    [
      'Failed permanently',
      failed_deliveries === 0
        ? badge('good', 'none in 24 hours')
        : html`<a href="/deliveries?state=failed">${badge('warn', `${failed_deliveries} in 24 hours`)}</a>`,
    ],
    [
      'Transparency log',
      html`<a href="/log">${badge(log.state === 'running' ? 'good' : 'bad', log.state)}</a>
        ${log.published_size.toLocaleString('en')} of ${log.size.toLocaleString('en')} leaves published;
        ${witnessText(log.witnesses)}`,
    ],
    ['Keys', html`<a href="/keys">${keyText(keys, now)}</a>`],
    ...(certificate === undefined
      ? []
      : [['Certificate', html`expires ${timeOf(certificate, now)}`] as const]),
    [
      'Storage',
      html`<span id="storage"
        >database
        ${bytesText(database_bytes)}${disks.map(({ free, total }) => `; disk ${bytesText(free)} free of ${bytesText(total)}`)}</span
      >`,
    ],
  ])
}

function keyText(keys: Overview['keys'], now: Date): Html {
  const limit = now.getTime() + KEY_DAYS * DAY_MS
  const ending = keys.filter(({ valid_until }) => Date.parse(valid_until) < limit)
  if (ending.length === 0) return badge('good', `none ends within ${KEY_DAYS} days`)
  const each = ending.map(
    ({ purpose, valid_until }, index) =>
      html`${index > 0 && ', '}${purpose} ends ${timeOf(valid_until, now)}`,
  )
  return html`${each}`
}

function pendingText(pending: number): Html {
  const count = pending >= 10_000 ? 'more than 10,000' : pending.toLocaleString('en')
  return html`<span class="quiet">${count} pending in all</span>`
}

function witnessText(witnesses: Overview['log']['witnesses']): string {
  if (witnesses.length === 0) return 'no witnesses'
  const cosigning = witnesses.filter(({ outcome }) => outcome === 'cosigned').length
  return `${cosigning} of ${witnesses.length} witnesses cosign`
}

function periodLinks(period: 'hour' | 'day'): Html {
  const link = (name: 'hour' | 'day', text: string) =>
    period === name ? html`<strong>${text}</strong>` : html`<a href="/?period=${name}">${text}</a>`
  return html`<p>${link('hour', 'Last hour')} · ${link('day', 'Last 24 hours')}</p>`
}

function endpoints({ disabled_endpoints, failing_endpoints }: Overview, now: Date): Html | undefined {
  const failing = failing_endpoints.map((each) => ({
    ...each,
    what: badge('warn', 'failing'),
    why: each.last_error,
    since: each.failing_since,
  }))
  const disabled = disabled_endpoints.map((each) => ({
    ...each,
    what: badge('bad', 'disabled'),
    why: each.status_reason,
    since: each.disabled_at,
  }))
  const rows = [...failing, ...disabled]
  if (rows.length === 0) return undefined
  return html`<h2 id="endpoints">Endpoints in trouble</h2>
    ${table({
      caption: 'Endpoints in trouble',
      hidesCaption: true,
      columns: [
        { title: 'Organization' },
        { title: 'State' },
        { title: 'Why' },
        { title: 'Since' },
        { title: 'Endpoint' },
      ],
      rows: rows.map((each) => [
        named({
          name: each.organization_name,
          id: each.organization_id,
          href: organizationPath(each.organization_id),
        }),
        each.what,
        each.why !== null && outsideText(each.why),
        each.since && timeOf(each.since, now),
        shortIdentifier(each.webhook_endpoint_id, endpointPath(each.webhook_endpoint_id)),
      ]),
    })}`
}

function processes({ processes: running }: Overview, now: Date): Html {
  return html`<h2 id="processes">Processes</h2>
    ${table({
      caption: 'Processes',
      hidesCaption: true,
      columns: [{ title: 'Role' }, { title: 'Started' }, { title: 'Last report' }, { title: 'Process' }],
      rows: running.map(({ process_id, role, started_at, seen_at }) => [
        role,
        timeOf(started_at, now),
        timeOf(seen_at, now),
        shortId(process_id),
      ]),
      empty: { title: 'No process reports', text: 'Each process reports every ten seconds. See its log.' },
    })}`
}
