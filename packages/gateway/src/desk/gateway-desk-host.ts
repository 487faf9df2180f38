import {
  DESK_ROLES,
  type DeskAgent,
  type DeskHost,
  type DeskPerson,
  type HostRoute,
} from '@agent-exchange/desk'
import {
  CSRF_FIELD,
  html,
  siteOrigins,
  usesTls,
  visible,
  type Html,
  type SiteAddress,
} from '@agent-exchange/web'
import type { HostedAgents } from '../agents/hosted-agent.ts'
import type { GatewaySessions } from '../people/desk-sessions.ts'
import { administrationRoutes } from './administration-pages.ts'
import { cookieFor } from './desk-cookies.ts'
import { DESK_TEXTS } from './desk-texts.ts'
import type { DeskParts } from './gateway-desk-agent.ts'
import { createSessionAgents } from './session-agents.ts'
import { createEntrance, type EntranceParts } from './sign-in.ts'

export interface GatewayDeskParts extends DeskParts, Omit<EntranceParts, 'cookie'> {
  readonly agents: HostedAgents
  readonly sessions: GatewaySessions
  readonly address: SiteAddress
  readonly publicUrl: string
  /** Pages that other parts of the gateway add. */
  readonly routes?: readonly HostRoute[]
}

/** The desk for everybody in the company: people, sessions and agents of the database. */
export function gatewayDeskHost(parts: GatewayDeskParts): DeskHost {
  const { address, sessions, key, agents } = parts
  const cookie = cookieFor(address, 'desk')
  const entrance = createEntrance({ ...parts, cookie })
  const isSeveral = () => agents.list().length > 1

  const chooseAgent: HostRoute = {
    method: 'POST',
    path: '/agent',
    roles: DESK_ROLES,
    async handle({ session, fields }) {
      const agentId = fields.get('agent_id') ?? ''
      if (agents.find(agentId)) await sessions.chooseAgent(session, agentId)
      return { kind: 'redirect', to: '/', done: 'agent_chosen' }
    },
  }

  function account(
    { person, csrfToken }: { readonly person: DeskPerson; readonly csrfToken: string },
    agent: DeskAgent | undefined,
  ): Html {
    const token = html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />`
    const shown = agent?.identity.agentId
    return html`${isSeveral() ? agentSwitch(token, agents, shown) : shown !== undefined && html`<bdi>${shown}</bdi>`}
      <form class="sign-out" method="post" action="/sign-out">
        ${token}
        <span><bdi>${visible(person.name)}</bdi> <span class="quiet">${person.roles.join(', ')}</span></span>
        <button type="submit">${DESK_TEXTS.signOut}</button>
      </form>`
  }

  const signOut: HostRoute = {
    method: 'POST',
    path: '/sign-out',
    roles: DESK_ROLES,
    async handle({ session, person }) {
      await sessions.end(session.id, { kind: 'person', id: person.id })
      return { kind: 'redirect', to: '/sign-in', headers: { 'set-cookie': cookie.clear() } }
    },
  }

  return {
    sessions,
    csrfKey: key,
    cookie: { name: cookie.name, tls: usesTls(address) },
    origins: siteOrigins(address),
    agents: createSessionAgents(parts, agents),
    routes: [chooseAgent, signOut, ...administrationRoutes(parts), ...(parts.routes ?? [])],
    enter: entrance.enter,
    signedOut: entrance.signedOut,
    account,
    footer: html`${DESK_TEXTS.footer}`,
    withoutAgents: {
      kind: 'page',
      title: DESK_TEXTS.noAgent,
      section: 'overview',
      main: html`<p>${DESK_TEXTS.noAgentText}</p>
        <p><code>aex gateway agent add INVITATION</code></p>`,
    },
  }
}

function agentSwitch(token: Html, agents: HostedAgents, shown: string | undefined): Html {
  return html`<form class="agent-switch" method="post" action="/agent">
    ${token}
    <label
      ><span class="quiet">${DESK_TEXTS.agent}</span>
      <select name="agent_id">
        ${agents
          .list()
          .map(({ agentId }) =>
            agentId === shown
              ? html`<option value="${agentId}" selected>${agentId}</option>`
              : html`<option value="${agentId}">${agentId}</option>`,
          )}
      </select></label
    >
    <button type="submit">${DESK_TEXTS.show}</button>
  </form>`
}
