import { mayFailoverLose } from '@agent-exchange/database'
import { DAY_SECONDS, secondsBetween } from '@agent-exchange/server/clock'
import { CERTIFICATE_NOTICE_DAYS, KEY_NOTICE_DAYS } from '../expiry/find-expiring.ts'
import type { Facts } from './overview-facts.ts'

/** Something that an operator should do something about. */
export interface Issue {
  readonly severity: 'bad' | 'warn'
  /** A sentence: what is wrong. */
  readonly text: string
  /** The page of the console where it is mended. */
  readonly href: string
}

const BACKLOG_WARN_SECONDS = 60
const BACKLOG_BAD_SECONDS = 600
const DISK_WARN = 0.1
const DISK_BAD = 0.05

/** What is wrong, the worst first. A pure function of what was read. */
export function findIssues(facts: Facts): Issue[] {
  const found = [
    ...processIssues(facts),
    ...upgradeIssues(facts),
    ...logIssues(facts),
    ...deliveryIssues(facts),
    ...expiryIssues(facts),
    ...diskIssues(facts),
    ...replicationIssues(facts),
    ...failureIssues(facts),
  ]
  return found.toSorted((a, b) => Number(b.severity === 'bad') - Number(a.severity === 'bad'))
}

function processIssues({ processes }: Facts): Issue[] {
  if (processes.some(({ role }) => role !== 'api')) return []
  const text = 'No process delivers webhooks: start one with AEX_ROLE=all or worker.'
  return [{ severity: 'bad', text, href: '/#processes' }]
}

/** Contract migrations wait until no process of an older release is left. */
function upgradeIssues({ processes }: Facts): Issue[] {
  const newest = Math.max(...processes.map(({ code_level }) => code_level))
  const older = processes.filter(({ code_level }) => code_level < newest).length
  if (older === 0) return []
  const text = `${counted(older, 'process is', 'processes are')} of an older release: the upgrade is finished when none is left.`
  return [{ severity: 'warn', text, href: '/#processes' }]
}

function logIssues({ log }: Facts): Issue[] {
  const state: Issue[] =
    log.state === 'running'
      ? []
      : [
          {
            severity: log.state === 'refusing' || log.state === 'damaged' ? 'bad' : 'warn',
            text: `The transparency log is ${log.state}.`,
            href: '/log',
          },
        ]
  const failing = log.witnesses.filter(({ outcome }) => outcome !== 'cosigned')
  if (failing.length === 0) return state
  const names = failing.map(({ name }) => name).join(', ')
  return [...state, { severity: 'warn', text: `Witnesses do not cosign: ${names}.`, href: '/log' }]
}

function deliveryIssues(facts: Facts): Issue[] {
  const { backlog, dead_letters, failed_deliveries, now } = facts
  const issues: Issue[] = []
  const href = '/deliveries?state=pending'
  const since = (time: string | null) => (time === null ? 0 : secondsBetween(time, now))
  const age = since(backlog.waits_for_worker_since)
  if (age > BACKLOG_WARN_SECONDS) {
    const severity = age > BACKLOG_BAD_SECONDS ? 'bad' : 'warn'
    issues.push({ severity, text: `The oldest due delivery has waited for ${durationOf(age)}.`, href })
  }
  const behind = since(backlog.waits_for_endpoint_since)
  if (behind > BACKLOG_BAD_SECONDS && backlog.slow_endpoint) {
    const { webhook_endpoint_id: id, organization_name: owner } = backlog.slow_endpoint
    const text = `The webhook endpoint of ${owner} is slow or has never answered: it is ${durationOf(behind)} behind.`
    issues.push({ severity: 'warn', text, href: `/endpoints/${id}` })
  }
  if (dead_letters > 0) {
    const owners = namesText(facts.dead_letter_owners)
    const text = `${counted(dead_letters, 'delivery', 'deliveries')} to ${owners} ${dead_letters === 1 ? 'was' : 'were'} given up in the last 24 hours.`
    issues.push({ severity: 'warn', text, href: '/deliveries?state=dead' })
  }
  if (failed_deliveries > 0) {
    const owners = namesText(facts.failed_delivery_owners)
    const text = `${counted(failed_deliveries, 'delivery', 'deliveries')} to ${owners} failed permanently in the last 24 hours, such as by a refusal.`
    issues.push({ severity: 'warn', text, href: '/deliveries?state=failed' })
  }
  return [...issues, ...failingIssues(facts), ...disabledIssues(facts)]
}

/** Named if it is one; otherwise by their organizations. */
function disabledIssues({ disabled_endpoints }: Facts): Issue[] {
  const [first, ...others] = disabled_endpoints
  if (!first) return []
  if (others.length > 0) {
    const owners = namesText([...new Set(disabled_endpoints.map((each) => each.organization_name))])
    const text = `${disabled_endpoints.length} webhook endpoints are disabled: of ${owners}.`
    return [{ severity: 'warn', text, href: '/endpoints?status=disabled' }]
  }
  const { webhook_endpoint_id: id, organization_name: owner, status_reason: why } = first
  const text = `The webhook endpoint of ${owner} is disabled: ${why ?? 'no reason recorded'}.`
  return [{ severity: 'warn', text, href: `/endpoints/${id}` }]
}

/** Named if it is one; otherwise a table of the overview lists them. */
function failingIssues({ failing_endpoints, now }: Facts): Issue[] {
  const [first, ...others] = failing_endpoints
  if (!first) return []
  const { webhook_endpoint_id: id, organization_name: owner, failing_since, last_error } = first
  const since = durationOf(secondsBetween(failing_since, now))
  if (others.length > 0) {
    const text = `${failing_endpoints.length} webhook endpoints fail, the longest of them (${owner}) for ${since}.`
    return [{ severity: 'warn', text, href: '/#endpoints' }]
  }
  const text = `The webhook endpoint of ${owner} has failed for ${since}: ${last_error ?? 'no result recorded'}.`
  return [{ severity: 'warn', text, href: `/endpoints/${id}` }]
}

function expiryIssues({ processes, keys, expiring_clients, now }: Facts): Issue[] {
  const ending = keys.filter(
    ({ valid_until }) => secondsBetween(now, valid_until) < KEY_NOTICE_DAYS * DAY_SECONDS,
  )
  return [
    ...certificateIssues(
      'The TLS certificate',
      processes.map(({ certificate_expires_at }) => certificate_expires_at),
      now,
    ),
    ...certificateIssues(
      'A certificate authority of clients',
      processes.map(({ client_ca_expires_at }) => client_ca_expires_at),
      now,
    ),
    ...ending.map(({ purpose, valid_until }): Issue => ({
      severity: 'warn',
      text: `The ${purpose} key ends in ${durationOf(secondsBetween(now, valid_until))} and has no successor.`,
      href: '/keys',
    })),
    ...clientIssues(expiring_clients, now),
  ]
}

/** About the certificate that ends first. */
function certificateIssues(what: string, ends: readonly (string | null)[], now: string): Issue[] {
  const first = ends.filter((end) => end !== null).toSorted()[0]
  const left = first === undefined ? Infinity : secondsBetween(now, first)
  if (left > CERTIFICATE_NOTICE_DAYS * DAY_SECONDS) return []
  const text = left <= 0 ? `${what} has expired.` : `${what} expires in ${durationOf(left)}.`
  return [{ severity: left <= 0 ? 'bad' : 'warn', text, href: '/settings' }]
}

function clientIssues(clients: Facts['expiring_clients'], now: string): Issue[] {
  const [first] = clients
  if (!first) return []
  const left = secondsBetween(now, first.certificate_expires_at)
  const when = left <= 0 ? 'has expired' : `expires in ${durationOf(left)}`
  const others = clients.length > 1 ? ` Others follow within ${CERTIFICATE_NOTICE_DAYS} days.` : ''
  const text = `The certificate of client ${first.client_id} of ${first.organization_name} ${when}.${others}`
  return [{ severity: 'warn', text, href: `/organizations/${first.organization_id}` }]
}

function diskIssues({ processes }: Facts): Issue[] {
  const shares = processes.flatMap(({ disk_free_bytes: free, disk_total_bytes: total }) =>
    free === null || total === null || total === 0 ? [] : [free / total],
  )
  const least = Math.min(1, ...shares)
  if (least > DISK_WARN) return []
  const text = `The disk of the database has ${Math.floor(least * 100)} % left.`
  return [{ severity: least > DISK_BAD ? 'warn' : 'bad', text, href: '/#storage' }]
}

function replicationIssues({ replication, has_several_database_hosts }: Facts): Issue[] {
  if (!mayFailoverLose(replication, has_several_database_hosts)) return []
  const text =
    replication === 'none'
      ? 'The database has several hosts, but no standby is connected: a failover may lose accepted packages.'
      : 'Replication of the database is not synchronous: a failover may lose accepted packages.'
  return [{ severity: 'warn', text, href: '/#storage' }]
}

function failureIssues({ hour }: Facts): Issue[] {
  const failed = hour.slice(-5).reduce((total, point) => total + point.problems_5xx, 0)
  if (failed === 0) return []
  const text = `${counted(failed, 'request', 'requests')} failed with a server error in the last minutes.`
  return [{ severity: 'warn', text, href: '/#activity' }]
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/** Such as "Acme, Bolt and 3 more". */
function namesText(names: readonly string[]): string {
  const [first = '', second, ...others] = names
  if (second === undefined) return first
  return others.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${others.length} more`
}

/** Such as "3 minutes". */
export function durationOf(seconds: number): string {
  const units = [
    ['day', DAY_SECONDS],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [name, size] = units.find(([, length]) => seconds >= 2 * length) ?? ['second', 1]
  const count = Math.floor(Math.max(0, seconds) / size)
  return counted(count, name, `${name}s`)
}
