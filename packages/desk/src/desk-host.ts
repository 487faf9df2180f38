import type { IncomingHttpHeaders } from 'node:http'
import type { AllowedOrigins, Html } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskAnswer, DeskPage, HostCall, HostRoute } from './desk-call.ts'
import type { DeskSession, DeskSessions } from './desk-session.ts'

/** A request of a browser that may not be signed in. */
export interface EntranceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  /** The fields of a posted form; undefined if it is too large or no form. */
  form(): Promise<URLSearchParams | undefined>
}

/** Where a desk runs: the folder of one developer, or the gateway of a company. */
export interface DeskHost {
  readonly sessions: DeskSessions
  /** 32 bytes that all instances share. */
  readonly csrfKey: Uint8Array
  readonly cookie: { readonly name: string; readonly tls: boolean }
  readonly origins: AllowedOrigins
  /**
   * The agents that this person may see, in the order of the switch. The same session gets the same objects for a
   * while: what a person has opened stays in memory as long as they do.
   */
  agents(session: DeskSession): readonly DeskAgent[]
  /** Pages of the host that belong to no agent, such as people and sessions. */
  readonly routes: readonly HostRoute[]
  /** Addresses of the host that need no session, such as the sign-in. Undefined: not one of them. */
  enter(request: EntranceRequest): Promise<DeskAnswer | undefined>
  /** For a browser without a session. `next`: where the person wanted to go. */
  signedOut(request: { readonly hasCookie: boolean; readonly next: string }): DeskAnswer
  /** At the end of the header, such as the name of the person and the way out. */
  account(call: Pick<HostCall, 'person' | 'csrfToken'>, agent: DeskAgent | undefined): Html
  readonly footer: Html
  /** What to do where there is no agent yet. */
  readonly withoutAgents: DeskPage
}
