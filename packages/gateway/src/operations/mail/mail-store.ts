import { randomUUID } from 'node:crypto'
import type { Database } from '@agent-exchange/database'
import { lockPart } from '../../stores/agent-lock.ts'
import { eventName, type MailEvent, type MailKind } from './mail-events.ts'

/** Owner of the tables mail and mailed_event. */

/** Mails of one kind in 24 hours. What exceeds them is reported on the next day. */
export const MAXIMUM_MAILS_A_DAY = 24
/** Between two mails of one kind; what happens meanwhile is reported together. */
const PAUSE_SECONDS = { news: 900, trouble: 60 } as const
/** An event that ended and begins again within this time is not reported again. */
const SETTLED_SECONDS = 3_600
const DAY_SECONDS = 86_400
const MAILS_KEPT_SECONDS = 30 * DAY_SECONDS

export interface ClaimedMail {
  readonly mailId: string
  readonly events: readonly MailEvent[]
}

/**
 * The events that no mail has reported yet, marked as reported. Undefined: there are none, or a mail now would be one too many.
 * The mark comes before the mail: a crash in between loses a mail and never repeats one.
 */
export async function claimMail(
  db: Database,
  kind: MailKind,
  events: readonly MailEvent[],
  now: Date,
): Promise<ClaimedMail | undefined> {
  if (events.length === 0) return undefined
  return db.begin(async (tx) => {
    await lockPart(tx, 'mail', kind)
    const [recent] = await tx<{ count: number; last: string | null }[]>`
      select count(*)::integer as count, max(claimed_at) as last from mail
      where kind = ${kind} and claimed_at > ${secondsBefore(now, DAY_SECONDS)}`
    if (recent && recent.count >= MAXIMUM_MAILS_A_DAY) return undefined
    if (recent?.last && now.getTime() - Date.parse(recent.last) < PAUSE_SECONDS[kind] * 1_000)
      return undefined
    const names = events.map(eventName)
    const reported = new Set(
      (await tx<{ event: string }[]>`select event from mailed_event where event = any(${names}::text[])`).map(
        ({ event }) => event,
      ),
    )
    const unreported = events.filter((event) => !reported.has(eventName(event)))
    if (unreported.length === 0) return undefined
    const mailId = randomUUID()
    const at = now.toISOString()
    await tx`insert into mail (mail_id, kind, claimed_at) values (${mailId}, ${kind}, ${at})`
    await tx`
      insert into mailed_event (event, mail_id, claimed_at)
      select event, ${mailId}, ${at} from unnest(${unreported.map(eventName)}::text[]) as event
      on conflict (event) do nothing`
    return { mailId, events: unreported }
  })
}

/** The mail server refused it or could not be reached: it is reported again. */
export async function releaseMail(db: Database, mailId: string): Promise<void> {
  await db.begin(async (tx) => {
    await tx`delete from mailed_event where mail_id = ${mailId}`
    await tx`delete from mail where mail_id = ${mailId}`
  })
}

/** Forgets events that have ended, so that they are reported when they begin again. */
export async function forgetEnded(db: Database, current: readonly MailEvent[], now: Date): Promise<void> {
  await db`
    delete from mailed_event where claimed_at < ${secondsBefore(now, SETTLED_SECONDS)}
      and event <> all(${current.map(eventName)}::text[])`
  await db`delete from mail where claimed_at < ${secondsBefore(now, MAILS_KEPT_SECONDS)}`
}

const secondsBefore = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000).toISOString()
