import type { Html, Notice } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskSession } from './desk-session.ts'
import type { DeskPerson, DeskRoles } from './desk-person.ts'
import type { StoryReader } from './story-reader.ts'
import type { PassphraseTries } from './passphrase-tries.ts'

/** A request of a signed-in person for a page that belongs to no agent. */
export interface HostCall {
  readonly person: DeskPerson
  readonly session: DeskSession
  /** The id in the address. */
  readonly id: string
  /** Fields of a form; empty for a GET. */
  readonly fields: URLSearchParams
  /** Fields of the address; empty for a POST. */
  readonly query: URLSearchParams
  readonly csrfToken: string
  readonly now: Date
}

/** A request of a signed-in person about one agent, with what its handler needs. */
export interface DeskCall extends HostCall {
  readonly agent: DeskAgent
  readonly tries: PassphraseTries
  readonly stories: StoryReader
}

interface Route<Call> {
  readonly method: 'GET' | 'POST'
  /** A template such as /people/:id/remove. */
  readonly path: string
  /** One of these roles is enough. */
  readonly roles: DeskRoles
  readonly handle: (call: Call) => Promise<DeskAnswer>
}

export type AgentRoute = Route<DeskCall>
export type HostRoute = Route<HostCall> & {
  /** In the navigation, for whoever has one of the roles. */
  readonly navigation?: string
}

export type DeskSection = 'overview' | 'drafts' | 'search' | 'new'

export interface DeskPage {
  readonly kind: 'page'
  readonly title: string
  readonly main: Html
  readonly status?: number
  /** A section of the agent, or the path of a page of the host. */
  readonly section?: DeskSection | `/${string}`
  readonly flash?: readonly Notice[]
  /** Addresses of own scripts of the page (modules). */
  readonly scripts?: readonly string[]
  readonly headers?: Readonly<Record<string, string | string[]>>
}

export type DeskAnswer =
  | DeskPage
  /** After a change: the page at the address shows the notice. */
  | {
      readonly kind: 'redirect'
      readonly to: string
      readonly done?: DoneCode
      readonly headers?: Readonly<Record<string, string | string[]>>
    }
  | { readonly kind: 'file'; readonly name: string; readonly mediaType: string; readonly body: string }

/** What the last change led to. The address carries the code, never a text. */
export const DONE = {
  opened: { tone: 'good', title: 'The package is open. Signed receipts were sent.' },
  revoked: { tone: 'good', title: 'The package is revoked.' },
  approved: { tone: 'good', title: 'Approved. The draft can be sent now, by you or by the agent.' },
  approval_recorded: {
    tone: 'good',
    title: 'Your approval is recorded. The page says whether the draft needs more.',
  },
  passkey_added: {
    tone: 'good',
    title: 'The passkey is registered. It counts for drafts that are made from now on.',
  },
  passkey_removed: {
    tone: 'info',
    title: 'The passkey is removed. Approvals that it gave for drafts that are not sent yet are void.',
  },
  declined: { tone: 'warn', title: 'Declined. The draft will not be sent.' },
  sent: { tone: 'good', title: 'Sent. The exchange accepted the package.' },
  discarded: { tone: 'info', title: 'The draft is discarded.' },
  agent_chosen: { tone: 'info', title: 'You see another agent now.' },
  person_added: { tone: 'good', title: 'The person was added.' },
  person_removed: { tone: 'info', title: 'The person was removed, and is signed out everywhere.' },
  session_ended: { tone: 'info', title: 'The session was ended.' },
  drafted: { tone: 'info', title: 'The answer is a draft. Read it, and approve it to send it.' },
} as const satisfies Readonly<Record<string, Notice>>

export type DoneCode = keyof typeof DONE

/** One path segment of an address. */
export function pathTo(
  folder: 'threads' | 'packages' | 'drafts' | 'evidence',
  id: string,
  rest = '',
): string {
  return `/${folder}/${encodeURIComponent(id)}${rest}`
}
