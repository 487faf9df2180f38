import type { Mail } from '@agent-exchange/server/mail-transport'
import type { MailEvent, MailEventKind } from './mail-events.ts'

const MAXIMUM_LINES = 20

interface Sentence {
  readonly one: string
  readonly many: string
  /** What to do. */
  readonly advice: string
}

const SENTENCES: Readonly<Record<MailEventKind, Sentence>> = {
  key_ends: {
    one: 'key ends soon and has no successor',
    many: 'keys end soon and have no successor',
    advice: 'aex gateway key rotate',
  },
  inbox_old: {
    one: 'inbox has a package that has waited for over an hour',
    many: 'inboxes have packages that have waited for over an hour',
    advice: 'Look at the system that takes packages from it, or at the desk.',
  },
  deadline_passed: {
    one: 'deadline has passed without an answer',
    many: 'deadlines have passed without an answer',
    advice: 'Answer the package, or talk to its sender.',
  },
  log_forked: {
    one: 'sign that an exchange showed two histories of its log',
    many: 'signs that an exchange showed two histories of its log',
    advice:
      'Keep the database: it holds the proof. Then talk to the operator of the exchange and to your partners.',
  },
  module_away: {
    one: 'key module does not answer',
    many: 'key modules do not answer',
    advice: 'Nothing is signed or opened until it is back. The log says why.',
  },
  outbox_stuck: {
    one: 'package has not been accepted by the exchange for over 15 minutes',
    many: 'packages have not been accepted by the exchange for over 15 minutes',
    advice: 'The gateway goes on trying. Look at its log and at the exchange.',
  },
  event_set_aside: {
    one: 'event was set aside after its last attempt',
    many: 'events were set aside after their last attempts',
    advice: 'aex gateway event list says why; aex gateway event retry handles it again.',
  },
  no_leader: {
    one: 'gateway without a leading instance',
    many: 'gateways without a leading instance',
    advice: 'Nothing is polled or handled. Check AEX_GATEWAY_DATABASE_DIRECT_URL and the database.',
  },
  package_waits: {
    one: 'received package waits for a person or a system',
    many: 'received packages wait for a person or a system',
    advice: 'Open it at the desk or through the API.',
  },
  draft_waits: {
    one: 'draft waits for a decision',
    many: 'drafts wait for a decision',
    advice: 'An approver opens it at the desk and approves or declines it.',
  },
}

/** One mail about all events. It holds ids, times, counts and links, and never content. */
export function mailText(events: readonly MailEvent[], publicUrl: string): Omit<Mail, 'to'> {
  const groups = [...Map.groupBy(events, ({ kind }) => kind)]
  const [first = ['no_leader', []] as const] = groups
  const more = groups.length > 1 ? `, and ${groups.length - 1} more` : ''
  const lines = groups.flatMap(([kind, group]) => [
    `${headline(kind, group.length)}.`,
    ...group.slice(0, MAXIMUM_LINES).map((event) => lineOf(event, publicUrl)),
    ...(group.length > MAXIMUM_LINES ? [`  and ${group.length - MAXIMUM_LINES} more`] : []),
    `  ${SENTENCES[kind].advice}`,
    '',
  ])
  return {
    subject: `Gateway: ${headline(first[0], first[1].length)}${more}`,
    text: `${[...lines, `Sent by the gateway at ${publicUrl}/`].join('\n')}\n`,
  }
}

function headline(kind: MailEventKind, count: number): string {
  const { one, many } = SENTENCES[kind]
  return `${count} ${count === 1 ? one : many}`
}

/** Pages of the desk that are about an event. They ask for a sign-in and for a role that may read it. */
const PAGES: Partial<Readonly<Record<MailEventKind, 'drafts' | 'packages'>>> = {
  draft_waits: 'drafts',
  package_waits: 'packages',
  deadline_passed: 'packages',
}

function lineOf({ kind, agentId, subject, at }: MailEvent, publicUrl: string): string {
  const parts = [agentId, subject, at].filter((part) => part !== undefined && part !== '')
  const page = PAGES[kind]
  const line = `  ${parts.join('  ')}`
  return page === undefined ? line : `${line}\n    ${publicUrl}/${page}/${encodeURIComponent(subject)}`
}
