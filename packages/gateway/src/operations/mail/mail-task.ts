import type { Database } from '@agent-exchange/database'
import type { MailTransport } from '@agent-exchange/server/mail-transport'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { Logger } from 'pino'
import { lockNumber } from '../../stores/agent-lock.ts'
import { currentEvents, type EventSources } from './current-events.ts'
import { mailKindOf, type MailEvent, type MailKind } from './mail-events.ts'
import { claimMail, forgetEnded, releaseMail } from './mail-store.ts'
import { mailText } from './mail-text.ts'

const EVERY_SECONDS = 60
const KINDS: readonly MailKind[] = ['trouble', 'news']
/** A lock that is free for this many runs in a row has no holder that is about to return. */
const LEADERLESS_RUNS = 2

export interface MailSettings extends EventSources {
  readonly isLeading: () => boolean
  readonly transport: Pick<MailTransport, 'send'>
  readonly recipients: readonly string[]
  readonly publicUrl: string
  readonly now: () => Date
  readonly log: Logger
  readonly onMail: (result: 'sent' | 'failed') => void
}

/** Tells people by mail what needs them. The leading instance does; any instance, if none leads. */
export function mailTask(settings: MailSettings): PeriodicTask {
  const { db, isLeading, now } = settings
  let leaderless = 0
  return {
    name: 'mail',
    everySeconds: EVERY_SECONDS,
    async run() {
      if (isLeading()) {
        leaderless = 0
        const events = await currentEvents(settings, now())
        for (const kind of KINDS) await tell(settings, kind, events)
        return forgetEnded(db, events, now())
      }
      leaderless = (await isLed(db)) ? 0 : leaderless + 1
      if (leaderless < LEADERLESS_RUNS) return undefined
      return tell(settings, 'trouble', [{ kind: 'no_leader', subject: '' }])
    },
  }
}

/** One mail about everything of one kind that no mail has reported. */
export async function tell(
  settings: MailSettings,
  kind: MailKind,
  events: readonly MailEvent[],
): Promise<void> {
  const { db, transport, recipients, publicUrl, now, log, onMail } = settings
  const claim = await claimMail(
    db,
    kind,
    events.filter((event) => mailKindOf(event) === kind),
    now(),
  )
  if (!claim) return
  try {
    await transport.send({ to: recipients, ...mailText(claim.events, publicUrl) })
    onMail('sent')
  } catch (error) {
    onMail('failed')
    // The answer of a mail server may repeat the mail.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    log.warn({ code, events: claim.events.length }, 'a mail was not sent and is tried again')
    await releaseMail(db, claim.mailId)
  }
}

async function isLed(db: Database): Promise<boolean> {
  const [row] = await db<{ led: boolean }[]>`
    select exists (
      select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and locktype = 'advisory' and granted and objsubid = 1
        and ((classid::bigint << 32) | objid::bigint) = ${lockNumber('leader')}::text::bigint) as led`
  return row?.led === true
}
