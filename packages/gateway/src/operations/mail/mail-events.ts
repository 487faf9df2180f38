/** What a mail tells: kinds, ids and counts. Never anything that a package or draft says. */
export type MailEventKind =
  | 'key_ends'
  | 'inbox_old'
  | 'deadline_passed'
  | 'log_forked'
  | 'module_away'
  | 'outbox_stuck'
  | 'event_set_aside'
  | 'no_leader'
  | 'package_waits'
  | 'draft_waits'

export interface MailEvent {
  readonly kind: MailEventKind
  /** Identifies the event while it lasts, together with its kind. */
  readonly subject: string
  readonly agentId?: string
  /** When it happened or will happen. */
  readonly at?: string
}

const NEWS: ReadonlySet<MailEventKind> = new Set(['package_waits', 'draft_waits'])

export type MailKind = 'news' | 'trouble'

export const mailKindOf = ({ kind }: MailEvent): MailKind => (NEWS.has(kind) ? 'news' : 'trouble')

/** The key under which an event is remembered. */
export const eventName = ({ kind, agentId = '', subject }: MailEvent) => `${kind}/${agentId}/${subject}`
