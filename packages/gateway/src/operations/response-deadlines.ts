import type { Database, Queries, Transaction } from '@agent-exchange/database'
import type { ReceivedDeadline } from '@agent-exchange/desk'
import { dateOfInstant, type ProtocolObject } from '@agent-exchange/protocol'
import { DEADLINE_REPORTED_SECONDS, MAXIMUM_LISTED } from './attention-limits.ts'

/** Owner of the table response_deadline. */

interface ReceivedPackage {
  readonly agentId: string
  readonly packageId: string
  readonly threadId: string
  readonly object: ProtocolObject
  readonly receivedAt: string
}

/** In the transaction that stores the content. Only a reasoning package asks for an answer. */
export async function noteDeadline(tx: Transaction, received: ReceivedPackage): Promise<void> {
  const { agentId, packageId, threadId, object, receivedAt } = received
  if (object.object_type !== 'reasoning_package' || !object.response_required.required) return
  const dueAt = storedInstant(object.response_required.deadline)
  if (dueAt === undefined) return
  await tx`
    insert into response_deadline (agent_id, package_id, thread_id, due_at, received_at)
    values (${agentId}, ${packageId}, ${threadId}, ${dueAt}, ${receivedAt})
    on conflict (agent_id, package_id) do nothing`
}

const EARLIEST = '0001-01-01T00:00:00.000Z'
const LATEST = '9999-12-31T23:59:59.999Z'

/** In UTC and in years of four digits: PostgreSQL refuses some offsets and years that RFC 3339 permits. */
function storedInstant(text: string): string | undefined {
  const time = dateOfInstant(text)?.getTime()
  if (time === undefined) return undefined
  return new Date(Math.min(Math.max(time, Date.parse(EARLIEST)), Date.parse(LATEST))).toISOString()
}

export interface OpenDeadline {
  readonly agent_id: string
  readonly package_id: string
  readonly due_at: string
}

/** Received packages that the company has sent nothing about since, earliest deadline first. */
export async function openDeadlines(db: Queries, now: Date): Promise<readonly OpenDeadline[]> {
  const reportedSince = new Date(now.getTime() - DEADLINE_REPORTED_SECONDS * 1_000).toISOString()
  return db<OpenDeadline[]>`
    select agent_id, package_id, due_at from response_deadline
    where due_at > ${reportedSince} and not exists (
      select 1 from content where content.agent_id = response_deadline.agent_id
        and content.thread_id = response_deadline.thread_id and direction = 'sent'
        and stored_at >= received_at)
    order by due_at, package_id limit ${MAXIMUM_LISTED}`
}

/** The same for one agent, as far as they are kept. */
export async function listDeadlines(db: Queries, agentId: string): Promise<readonly ReceivedDeadline[]> {
  return db<ReceivedDeadline[]>`
    select package_id as "packageId", thread_id as "threadId", due_at as "dueAt" from response_deadline
    where agent_id = ${agentId} and not exists (
      select 1 from content where content.agent_id = response_deadline.agent_id
        and content.thread_id = response_deadline.thread_id and direction = 'sent'
        and stored_at >= received_at)
    order by due_at, package_id limit ${MAXIMUM_LISTED}`
}

/**
 * A deadline is part of the content, and goes with it. One that was answered goes too: metrics read all that are left.
 */
export async function forgetDeadlines(db: Database, now: Date): Promise<void> {
  const reportedSince = new Date(now.getTime() - DEADLINE_REPORTED_SECONDS * 1_000).toISOString()
  await db`
    delete from response_deadline where due_at <= ${reportedSince} or exists (
      select 1 from content where content.agent_id = response_deadline.agent_id
        and content.package_id = response_deadline.package_id and deleted_at is not null)
    or exists (
      select 1 from content where content.agent_id = response_deadline.agent_id
        and content.thread_id = response_deadline.thread_id and direction = 'sent'
        and stored_at >= received_at)`
}
