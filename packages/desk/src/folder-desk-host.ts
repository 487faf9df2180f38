import { cookieHeader, html, loopbackOrigins } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import { pathTo, type DeskPage } from './desk-call.ts'
import type { DeskHost } from './desk-host.ts'
import type { DeskSession } from './desk-session.ts'
import { SESSION_VALID_MS } from './desk-limits.ts'
import { DESK_ROLES } from './desk-person.ts'
import type { FolderSessions } from './folder-sessions.ts'
import { FOLDER_TEXTS as T } from './texts/page-texts.ts'
import { TEXTS } from './texts/story-texts.ts'

/** One developer on this machine, with every role, signed in by the link in the terminal. */
export function folderDeskHost(agent: DeskAgent, port: number, sessions: FolderSessions): DeskHost {
  const { agentId, organizationId } = agent.identity
  // Cookies ignore ports, so each desk on this machine has a name of its own.
  const cookie = { name: `aex-desk-${port}`, tls: false }
  const sessionOf = (id: string): DeskSession => ({
    id,
    person: { id: 'person_folder', name: T.person, roles: DESK_ROLES },
    signedInAt: sessions.since(id),
  })
  return {
    csrfKey: sessions.csrfKey,
    cookie,
    origins: loopbackOrigins(port),
    sessions: {
      find: async (given) => (sessions.isValid(given) ? sessionOf(given) : undefined),
    },
    agents: () => [agent],
    routes: [],
    async enter({ method, url }) {
      if (method !== 'GET' || url.pathname !== '/enter') return undefined
      const entered = sessions.enter(url.searchParams.get('link') ?? '')
      if ('fault' in entered) return entrance(410, T.linkFaults[entered.fault])
      const maxAgeSeconds = SESSION_VALID_MS / 1_000
      const value = entered.session
      const thread = url.searchParams.get('thread')
      return {
        kind: 'redirect',
        to: thread === null ? '/' : pathTo('threads', thread),
        headers: { 'set-cookie': cookieHeader({ ...cookie, value, sameSite: 'Strict', maxAgeSeconds }) },
      }
    },
    signedOut: ({ hasCookie }) => entrance(401, hasCookie ? T.sessionEnded : T.signedOut),
    account: () => html`<span><bdi>${agentId}</bdi> ${TEXTS.of} <bdi>${organizationId}</bdi></span>`,
    footer: html`${T.footer}`,
    withoutAgents: entrance(404, T.noAgent),
  }
}

/** For a browser that is not signed in. It learns nothing about the agent. */
function entrance(status: number, [title, explanation]: readonly [string, string]): DeskPage {
  return {
    kind: 'page',
    status,
    title,
    main: html`<p>${explanation}</p>
      <p>${T.newLink}</p>
      <p>${T.startAgain}</p>
      <p><code>aex agent desk --dir FOLDER</code></p>`,
  }
}
