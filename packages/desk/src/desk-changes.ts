import { fingerprint, type LiveContent } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'

/** Event stream of pages that update themselves. */
export const EVENTS_PATH = '/events'

/** Address of the stream of a page. Called before the page reads what it shows, so that no later change is missed. */
export async function streamAddress(agent: DeskAgent): Promise<string> {
  return `${EVENTS_PATH}?seen=${fingerprint(await agent.summary())}`
}

/** What the streams of all pages compare. */
export function deskChanges(
  agent: DeskAgent,
  seen: string | null,
  isPermitted: () => Promise<boolean>,
): LiveContent {
  const read = async () => {
    await agent.fetchEvents()
    return agent.summary()
  }
  return { topic: `desk ${agent.identity.agentId}`, read, seen: seen ?? undefined, isPermitted }
}
