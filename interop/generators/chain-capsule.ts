import { parsePolicy, verifyCapsule, type CapsuleV3 } from '@agent-exchange/log'
import { createMemoryOutbox } from '@agent-exchange/sdk'
import { chainCapsuleOf, POLICY, QUICK_LOG, startWorld, type ChainLogPlan } from '@agent-exchange/testkit'
import { openPackage } from '../../packages/sdk/src/open/open-package.ts'
import { readCapsule } from '../../packages/sdk/src/evidence/read-capsule.ts'
import { sendPackage } from '../../packages/sdk/src/send/send-package.ts'
import type { TestAgent } from '../../packages/sdk/src/agents.fixture.ts'
import { wholeThread } from '../../packages/sdk/src/evidence/evidence.fixture.ts'
import { inputFor } from '../../packages/sdk/src/send/drafts.fixture.ts'
import { replayDelivery } from '../../packages/sdk/src/evidence/replayed-delivery.fixture.ts'
import { failingCodes, reachedBy } from '../profiles/capsule.ts'
import { editsBetween } from './capsule-edits.ts'
import { disclosingCapsules, sendOddlySealed } from './chain-capsule-disclosed.ts'
import { editedCapsules } from './chain-capsule-edited.ts'
import { forgedCapsules } from './chain-capsule-forged.ts'
import { forgedStatements } from './chain-capsule-statements.ts'
import { trueCapsules } from './chain-capsule-true.ts'
import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { type Generated, invalid, valid } from './vectors.ts'

/** The file whose changes the vectors describe. */
export const CHAIN_CAPSULE_FILE = 'capsules/chains.json'
const WITNESSED = { cosigners: 2, earlierSize: 7, earlierBy: 100 } as const

export async function collectChains(): Promise<ChainStory> {
  const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
  const { acme, bolt, threadId } = await wholeThread(world)
  const replayed = await replayDelivery(world, acme, async () => {
    const input = inputFor(bolt, acme, { thread_id: threadId })
    return (await sendPackage(bolt, input, { outbox: createMemoryOutbox() })).packageId
  })
  await openPackage(acme, replayed)
  await sendOddlySealed(acme, bolt, threadId)
  const log = (changed: CapsuleV3, plan: ChainLogPlan = WITNESSED) =>
    chainCapsuleOf(changed, { platform: world, ...plan })
  const collect = async (agent: TestAgent) => {
    const { capsule } = await readCapsule(agent, { threadId })
    if (capsule.format !== 'aex-evidence/3') throw new Error('the exchange writes another format')
    return capsule
  }
  return {
    world,
    acme,
    bolt,
    capsule: await log(await collect(bolt)),
    asAcmeSeesIt: await collect(acme),
    log,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

export async function chainCapsules(story: ChainStory): Promise<Generated> {
  const changed = [
    ...(await trueCapsules(story)),
    ...editedCapsules(story),
    ...(await forgedCapsules(story)),
    ...(await forgedStatements(story)),
    ...(await disclosingCapsules(story)),
  ]
  return {
    profile: 'chain-capsule',
    description: 'Capsules of format 3, verified offline: true ones, and false ones with a check that fails.',
    references: ['docs/transparency-format.md', 'C2SP tlog-policy'],
    vectors: await Promise.all(changed.map((each) => vectorOf(story, each))),
  }
}

async function vectorOf(
  { capsule: original }: ChainStory,
  { name, description, capsule, level, code, policy = POLICY as never, ...expected }: ChangedCapsule,
) {
  const input = { capsule: CHAIN_CAPSULE_FILE, set: editsBetween(original, capsule), policy }
  const result = await verifyCapsule(capsule, policy === null ? {} : { policy: parsePolicy(policy) })
  if (code !== undefined)
    return { ...invalid(name, description, input, { rule: 'AUD-03', code }), codes: failingCodes(result) }
  const reached = await reachedBy(result)
  const { disclosed, isBoundedBelow = reached.earlier_checkpoint } = expected
  const bases = Object.values(reached.disclosed).map(({ basis }) => basis)
  if (bases.join() !== (disclosed ?? '')) throw new Error(`${name} discloses ${bases.join()}`)
  return valid(name, description, input, { ...reached, level, earlier_checkpoint: isBoundedBelow })
}
