import { cookieHeader, html, loopbackOrigins } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import { pathTo, type DeskPage } from './desk-call.ts'
import type { DeskHost } from './desk-host.ts'
import type { DeskSession } from './desk-session.ts'
import { SESSION_VALID_MS } from './desk-limits.ts'
import { DESK_ROLES } from './desk-person.ts'
import type { FolderSessions, LinkFault } from './folder-sessions.ts'

/** One developer on this machine, with every role, signed in by the link in the terminal. */
export function folderDeskHost(agent: DeskAgent, port: number, sessions: FolderSessions): DeskHost {
  const { agentId, organizationId } = agent.identity
  // Cookies ignore ports, so each desk on this machine has a name of its own.
  const cookie = { name: `aex-desk-${port}`, tls: false }
  const sessionOf = (id: string): DeskSession => ({
    id,
    person: { id: 'person_folder', name: 'the person at this computer', roles: DESK_ROLES },
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
      if ('fault' in entered) return entrance(410, ...LINK_FAULTS[entered.fault])
      const maxAgeSeconds = SESSION_VALID_MS / 1_000
      const value = entered.session
      const thread = url.searchParams.get('thread')
      return {
        kind: 'redirect',
        to: thread === null ? '/' : pathTo('threads', thread),
        headers: { 'set-cookie': cookieHeader({ ...cookie, value, sameSite: 'Strict', maxAgeSeconds }) },
      }
    },
    signedOut: ({ hasCookie }) =>
      hasCookie
        ? entrance(401, 'Your session has ended', 'It lasts eight hours, and ends with the desk.')
        : entrance(401, 'Signed out', 'Open the link that the desk printed in its terminal.'),
    account: () => html`<bdi>${agentId}</bdi> of <bdi>${organizationId}</bdi>`,
    footer: html`This page is served on this computer alone.`,
    withoutAgents: entrance(404, 'No agent', 'The folder has no agent.'),
  }
}

const LINK_FAULTS: Readonly<Record<LinkFault, readonly [title: string, text: string]>> = {
  used: [
    'This link was used already',
    'A link signs in one browser, once. If you did not use it yourself, somebody else did: stop the desk.',
  ],
  expired: ['This link is too old', 'A link works for ten minutes.'],
  replaced: ['This link was replaced', 'The desk has made a newer link since, and only that one works.'],
  unknown: [
    'This link is not one of this desk',
    'It is incomplete, or an earlier run of the desk printed it. Copy the whole link that it printed last.',
  ],
}

/** For a browser that is not signed in. It learns nothing about the agent. */
function entrance(status: number, title: string, explanation: string): DeskPage {
  return {
    kind: 'page',
    status,
    title,
    main: html`<p>${explanation}</p>
      <p>For a new link, press Enter in the terminal of the desk.</p>
      <p>If the desk does not run any more, start it again, with the folder of the agent:</p>
      <p><code>aex agent desk --dir FOLDER</code></p>`,
  }
}
