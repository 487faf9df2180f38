import { startWorld } from '@agent-exchange/testkit'
import type { Capsule, EvidenceBundle } from '@agent-exchange/log'
import { startAgents } from '../../../packages/sdk/src/agents.fixture.ts'
import { inputFor } from '../../../packages/sdk/src/exchange/drafts.fixture.ts'
import { createMemoryOutbox } from '../../../packages/sdk/src/exchange/memory-outbox.ts'
import { sendPackage } from '../../../packages/sdk/src/exchange/send-package.ts'
import { readCapsule } from '../../../packages/sdk/src/log/read-capsule.ts'

const LANES = 8
const PROFILE = {
  'O-07': { transparency_checkpoint_milliseconds: 1_000, transparency_sequence_milliseconds: 50 },
}

/** A capsule of one thread with this many packages, collected from a real exchange. */
export async function largeCapsule(
  packages: number,
  progress: (what: string) => void,
): Promise<Capsule | EvidenceBundle> {
  await using world = await startWorld({ profile: PROFILE, config: { role: 'all' } })
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const outbox = createMemoryOutbox()
  const { threadId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  let sent = 1
  const lane = async () => {
    while (sent < packages) {
      sent++
      if (sent % 100 === 0) progress(`capsule: ${sent} of ${packages} packages`)
      await sendPackage(acme, inputFor(acme, bolt, { thread_id: threadId }), { outbox })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  progress('capsule: collecting proofs')
  const { capsule } = await readCapsule(acme, { threadId })
  return capsule
}
