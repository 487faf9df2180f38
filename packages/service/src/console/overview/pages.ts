import { badge, definitionList, html, linePlot, notice, table, type Html } from '@agent-exchange/web'
import { readOverviewRoute } from '../../operator/routes/overview.ts'
import { liveGet, type ConsoleCall, type ConsolePage, type WatchCall } from '../console-page.ts'
import { bytesText } from '../bytes-text.ts'
import { outsideText } from '../console-parts.ts'
import { timeOf } from '../time.ts'
import { activityPlots } from './activity-plots.ts'

type Overview = Awaited<ReturnType<(typeof readOverviewRoute)['run']>>

export const overviewPages: readonly ConsolePage[] = [liveGet('/', show, watch)]

async function watch({ api }: WatchCall): Promise<object> {
  return watchedFacts(await api(readOverviewRoute))
}

/** Without what changes by itself as time passes. */
function watchedFacts(overview: Overview): object {
  const { status, backlog, keys, log, hour, processes: running } = overview
  const { dead_letters, failed_deliveries, disabled_endpoints, failing_endpoints } = overview
  return {
    facts: [status, backlog, keys],
    trouble: [dead_letters, failed_deliveries, disabled_endpoints, failing_endpoints],
    log: [log.state, log.published_size, log.witnesses.map(({ outcome }) => outcome)],
    activity: hour.at(-1),
    processes: running.map(({ process_id }) => process_id),
  }
}

async function show({ api, query, now, show: page, live }: ConsoleCall) {
  const overview = await api(readOverviewRoute)
  const period = query.get('period') === 'day' ? 'day' : 'hour'
  const content = html`${health(overview)} ${facts(overview, now)}
    <h2 id="activity">Activity</h2>
    ${periodLinks(period)}
    <div class="plots">${activityPlots(overview[period], period).map(linePlot)}</div>
    ${endpoints(overview, now)} ${processes(overview, now)}`
  return page({ title: 'Overview', main: live(watchedFacts(overview), content) })
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
  const list = issues.map(
    ({ text, href, severity }, index) =>
      html`${index > 0 && html`<br />`}${severity === 'bad' && html`<strong>Now: </strong>`}<a href="${href}"
          >${text}</a
        >`,
  )
  return notice({ tone, title, text: html`${list}` })
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
    [
      'Keys',
      html`<a href="/keys"
        >${keys.map(({ purpose, valid_until }, index) => html`${index > 0 && ', '}${purpose} ends ${timeOf(valid_until, now)}`)}</a
      >`,
    ],
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
        { title: 'Endpoint' },
        { title: 'Organization' },
        { title: 'State' },
        { title: 'Why' },
        { title: 'Since' },
      ],
      rows: rows.map((each) => [
        html`<a href="/endpoints/${each.webhook_endpoint_id}">${each.webhook_endpoint_id}</a>`,
        html`<a href="/organizations/${each.organization_id}">${each.organization_id}</a>`,
        each.what,
        each.why !== null && outsideText(each.why),
        each.since && timeOf(each.since, now),
      ]),
    })}`
}

function processes({ processes: running }: Overview, now: Date): Html {
  return html`<h2 id="processes">Processes</h2>
    ${table({
      caption: 'Processes',
      hidesCaption: true,
      columns: [{ title: 'Process' }, { title: 'Role' }, { title: 'Started' }, { title: 'Last report' }],
      rows: running.map(({ process_id, role, started_at, seen_at }) => [
        html`<code>${process_id}</code>`,
        role,
        timeOf(started_at, now),
        timeOf(seen_at, now),
      ]),
      empty: { title: 'No process reports', text: 'Each process reports every ten seconds. See its log.' },
    })}`
}
