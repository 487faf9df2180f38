import { after, before } from 'node:test'
import { initApprover } from '@agent-exchange/sdk/internal/node'
import { startWorld, type World } from '@agent-exchange/testkit'
import { startFolderAgent, type TestAgent } from './agents.fixture.ts'
import { PASSPHRASE, QUICK } from './story.fixture.ts'

export interface Companies {
  readonly world: World
  readonly acme: TestAgent
  readonly bolt: TestAgent
}

/** An exchange whose log is published soon. Without it, nothing collects evidence. */
export const WITH_LOG = {
  profile: { 'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 } },
  config: { role: 'all' },
} as const

/** Two companies for all tests of a file. Each has a policy that needs a person and one that needs none. */
export function companies(options: Parameters<typeof startWorld>[0] = {}): Companies {
  const found: Partial<Record<keyof Companies, World | TestAgent>> = {}
  before(async () => {
    const world = await startWorld(options)
    found.world = world
    for (const [name, partner] of [
      ['acme', 'bolt'],
      ['bolt', 'acme'],
    ] as const) {
      const agent = await startFolderAgent(world, name, partner)
      found[name] = agent
      agent.policy('free')
      agent.policy('guarded', (policy) => ({
        ...policy,
        human_approval: { required: true, approval_id: 'approval_desk' },
      }))
      await initApprover(agent.dir, { passphrase: PASSPHRASE, cost: QUICK })
    }
  })
  after(async () => {
    for (const each of [found.acme, found.bolt, found.world]) await each?.[Symbol.asyncDispose]()
  })
  return found as Companies
}
