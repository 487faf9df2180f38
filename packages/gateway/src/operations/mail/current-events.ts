import type { Database } from '@agent-exchange/database'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { HostedAgents } from '../../agents/hosted-agent.ts'
import {
  INBOX_OLD_SECONDS,
  KEY_ENDS_SECONDS,
  MAXIMUM_LISTED,
  NEWS_AFTER_SECONDS,
  OUTBOX_STUCK_SECONDS,
} from '../attention-limits.ts'
import type { LogFinding } from '../gateway-metrics.ts'
import type { KeyEnd } from '../key-ends.ts'
import { openDeadlines } from '../response-deadlines.ts'
import type { MailEvent } from './mail-events.ts'

export interface EventSources {
  readonly db: Database
  readonly agents: HostedAgents
  readonly keyEnds: () => readonly KeyEnd[]
  readonly isModuleAway: () => boolean
  readonly logFindings: () => readonly LogFinding[]
}

/** Everything that needs a person now, as the leading instance sees it. */
export async function currentEvents(sources: EventSources, now: Date): Promise<readonly MailEvent[]> {
  const { db, keyEnds, isModuleAway, logFindings } = sources
  const deadlines = await openDeadlines(db, now)
  return [
    ...keyEnds()
      .filter(({ endsAt }) => Date.parse(endsAt) - now.getTime() < KEY_ENDS_SECONDS * 1_000)
      .map(({ agentId, keyId, endsAt }) => ({
        kind: 'key_ends' as const,
        agentId,
        subject: keyId,
        at: endsAt,
      })),
    ...deadlines
      .filter(({ due_at }) => Date.parse(due_at) <= now.getTime())
      .map(({ agent_id, package_id, due_at }) => ({
        kind: 'deadline_passed' as const,
        agentId: agent_id,
        subject: package_id,
        at: due_at,
      })),
    ...(isModuleAway() ? [{ kind: 'module_away' as const, subject: 'pkcs11' }] : []),
    ...(await stuckPackages(db, now)),
    ...(await eventsSetAside(db)),
    ...(await forks(db)),
    ...logFindings().map(({ agentId, kind }) => ({ kind: 'log_forked' as const, agentId, subject: kind })),
    ...(await waitingPackages(db, now)),
    ...(await waitingDrafts(sources)),
  ]
}

async function stuckPackages(db: Database, now: Date): Promise<MailEvent[]> {
  const rows = await db<{ agent_id: string; package_id: string; created_at: string }[]>`
    select agent_id, package_id, created_at from agent_outbox
    where state not in ('accepted', 'refused') and created_at < ${before(now, OUTBOX_STUCK_SECONDS)}
    order by created_at limit ${MAXIMUM_LISTED}`
  return rows.map(({ agent_id, package_id, created_at }) => ({
    kind: 'outbox_stuck',
    agentId: agent_id,
    subject: package_id,
    at: created_at,
  }))
}

async function eventsSetAside(db: Database): Promise<MailEvent[]> {
  const rows = await db<{ agent_id: string; event_id: string; finished_at: string }[]>`
    select agent_id, event_id, finished_at from agent_event
    where state = 'set_aside' order by finished_at limit ${MAXIMUM_LISTED}`
  return rows.map(({ agent_id, event_id, finished_at }) => ({
    kind: 'event_set_aside',
    agentId: agent_id,
    subject: event_id,
    at: finished_at,
  }))
}

async function forks(db: Database): Promise<MailEvent[]> {
  const rows = await db<{ agent_id: string; number: number }[]>`
    select agent_id, number::integer as number from agent_split_view
    order by number desc limit ${MAXIMUM_LISTED}`
  return rows.map(({ agent_id, number }) => ({
    kind: 'log_forked',
    agentId: agent_id,
    subject: `agent_split_view ${number}`,
  }))
}

/** An item that a system takes soon is no news. An old one is trouble of its inbox too. */
async function waitingPackages(db: Database, now: Date): Promise<MailEvent[]> {
  const rows = await db<{ agent_id: string; package_id: string; received_at: string }[]>`
    select agent_id, package_id, received_at from inbox_item
    where state = 'waiting' and received_at < ${before(now, NEWS_AFTER_SECONDS)}
    order by received_at limit ${MAXIMUM_LISTED}`
  const old = new Set(
    rows
      .filter(({ received_at }) => Date.parse(received_at) < now.getTime() - INBOX_OLD_SECONDS * 1_000)
      .map(({ agent_id }) => agent_id),
  )
  return [
    ...[...old].map((agentId) => ({ kind: 'inbox_old' as const, agentId, subject: '' })),
    ...rows.map(({ agent_id, package_id, received_at }) => ({
      kind: 'package_waits' as const,
      agentId: agent_id,
      subject: package_id,
      at: received_at,
    })),
  ]
}

/** Nobody approved, too few people did, or what they approved does not count any more. */
const NEEDS_PERSON = new Set<StoredDraft['state']>(['waiting', 'void'])

async function waitingDrafts({ agents }: EventSources): Promise<MailEvent[]> {
  const lists = await Promise.all(
    agents.list().map(async ({ agentId, drafts }) =>
      (await drafts.list())
        .filter(({ approvalRequired, state }) => approvalRequired && NEEDS_PERSON.has(state))
        .map(({ draftId, createdAt }) => ({
          kind: 'draft_waits' as const,
          agentId,
          subject: draftId,
          at: createdAt,
        })),
    ),
  )
  return lists.flat().slice(0, MAXIMUM_LISTED)
}

const before = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000).toISOString()
