import type { Html, Notice } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DONE } from './texts/page-texts.ts'
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

export type DoneCode = keyof typeof DONE

/** One path segment of an address. */
export function pathTo(
  folder: 'threads' | 'packages' | 'drafts' | 'evidence',
  id: string,
  rest = '',
): string {
  return `/${folder}/${encodeURIComponent(id)}${rest}`
}
