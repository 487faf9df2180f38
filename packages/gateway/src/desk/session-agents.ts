import type { DeskAgent, DeskSession } from '@agent-exchange/desk'
import type { HostedAgent, HostedAgents } from '../agents/hosted-agent.ts'
import { READ_AGAIN_MS, REMEMBERED_SESSIONS } from './desk-limits.ts'
import { gatewayDeskAgent, type DeskParts } from './gateway-desk-agent.ts'

interface Remembered {
  readonly until: number
  readonly roles: string
  readonly agents: Map<HostedAgent, DeskAgent>
}

/** The agents as each session sees them. Within a while they are the same objects, so that a page opens only what is new. */
export function createSessionAgents(parts: DeskParts, hosted: HostedAgents) {
  const remembered = new Map<string, Remembered>()

  function ofSession({ id, person }: DeskSession): Remembered {
    const now = parts.now().getTime()
    const roles = person.roles.join(' ')
    const known = remembered.get(id)
    if (known && known.until > now && known.roles === roles) return known
    remembered.delete(id)
    for (const oldest of [...remembered.keys()].slice(
      0,
      Math.max(0, remembered.size - REMEMBERED_SESSIONS + 1),
    ))
      remembered.delete(oldest)
    const made = { until: now + READ_AGAIN_MS, roles, agents: new Map<HostedAgent, DeskAgent>() }
    remembered.set(id, made)
    return made
  }

  return (session: DeskSession): readonly DeskAgent[] => {
    const { agents } = ofSession(session)
    return hosted.list().map((each) => {
      const made = agents.get(each) ?? gatewayDeskAgent(parts, each, session.person)
      agents.set(each, made)
      return made
    })
  }
}
