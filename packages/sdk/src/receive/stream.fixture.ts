import { importPublicJwk } from '@agent-exchange/crypto'
import { sendPackage, type Organization, type World } from '@agent-exchange/testkit'
import { startAgent, type AgentOptions, type TestAgent } from '../agents.fixture.ts'

/** A company whose agent gets events, and another company that causes them. */
export interface Stream {
  readonly agent: TestAgent
  /** Sends the given number of packages to the agent, in order, one event each. Returns their ids. */
  send(count: number): Promise<string[]>
  /** Cuts the stream as the retention job does: events up to this number are gone. */
  cut(through: number): Promise<void>
}

export async function startStream(world: World, name = 'cars', options: AgentOptions = {}): Promise<Stream> {
  const [agent, sender] = await Promise.all([
    startAgent(world, name, options),
    world.organization(`to_${name}`),
  ])
  const recipient = await asRecipient(agent)
  return {
    agent,
    async send(count) {
      const sent: string[] = []
      for (let i = 0; i < count; i++) {
        const { metadata } = await sendPackage(sender, recipient)
        sent.push(metadata.package_id)
      }
      return sent
    },
    async cut(through) {
      const { organizationId } = agent.identity
      await world.sql.begin(async (tx) => {
        await tx`select set_config('aex.retention', 'on', true)`
        await tx`update notification_stream set first_retained = ${through + 1} where organization_id = ${organizationId}`
        await tx`delete from notification where organization_id = ${organizationId} and sequence <= ${through}`
      })
    },
  }
}

/** What the testkit has to know of an agent in order to seal for it. */
export async function asRecipient({
  identity,
  keys,
}: Pick<TestAgent, 'identity' | 'keys'>): Promise<Organization> {
  const own = (await keys.list()).find(({ role, stage }) => role === 'encryption' && stage === 'current')
  if (!own) throw new Error('the agent has no encryption key')
  const publicKey = await importPublicJwk(own.publicJwk)
  return { ...identity, encryption: { keyId: own.keyId, pair: { publicKey } } } as unknown as Organization
}
