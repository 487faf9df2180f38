import { capsuleOf, startWorld } from '@agent-exchange/testkit'
import type { Capsule, EvidenceBundle } from '@agent-exchange/log'
import { startAgents } from '../../../packages/sdk/src/agents.fixture.ts'
import { relinked } from '../../../packages/sdk/src/evidence/evidence.fixture.ts'
import { readEvidence } from '../../../packages/sdk/src/evidence/read-evidence.ts'
import { inputFor } from '../../../packages/sdk/src/send/drafts.fixture.ts'
import { createMemoryOutbox } from '../../../packages/sdk/src/outbox/memory-outbox.ts'
import { openPackage } from '../../../packages/sdk/src/open/open-package.ts'
import { sendPackage } from '../../../packages/sdk/src/send/send-package.ts'

const LANES = 8

const ENTRIES_PER_PACKAGE = 20

/**
 * A capsule of one thread with this many packages of a real exchange and twenty entries each: those of the acceptance, and
 * further fetches of the content, which nobody signs.
 */
export async function largeCapsule(packages: number, progress: (what: string) => void): Promise<Capsule> {
  await using world = await startWorld({ evidenceVersion: 1 })
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const outbox = createMemoryOutbox()
  const { threadId, packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  await openPackage(bolt, packageId)
  let sent = 1
  const lane = async () => {
    while (sent < packages) {
      sent++
      if (sent % 100 === 0) progress(`capsule: ${sent} of ${packages} packages`)
      await sendPackage(acme, inputFor(acme, bolt, { thread_id: threadId }), { outbox })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  progress('capsule: collecting evidence')
  const evidence = await readEvidence(acme, { threadId })
  progress('capsule: making the log')
  return capsuleOf(await relinked(withFetches(evidence)))
}

function withFetches(bundle: EvidenceBundle): EvidenceBundle {
  const fetch = bundle.entries.find(({ proof }) => proof.kind === 'content_fetched')
  const last = bundle.entries.at(-1)
  if (!fetch || !last) throw new Error('nobody fetched a package')
  // Only the first fetch of a package changes its state.
  const {
    state: _,
    implied_states: __,
    ...again
  } = fetch.proof as typeof fetch.proof & Record<string, unknown>
  const entries = [...bundle.entries]
  const packages = bundle.packages.map((each) => {
    const positions = [...each.positions]
    while (positions.length < ENTRIES_PER_PACKAGE) {
      const position = entries.length + 1
      entries.push({
        position,
        proof: { ...again, recorded_at: last.proof.recorded_at },
      })
      positions.push(position)
    }
    return { ...each, positions }
  })
  return { ...bundle, entries, packages }
}
