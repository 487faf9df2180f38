import type { PeerPins, PinStore } from './peer-directory.ts'
import { createSerially } from './serially.ts'

/** Pins in memory. Lost pins protect nothing: prefer a durable store. */
export function createMemoryPinStore(): PinStore {
  const byAgent = new Map<string, PeerPins>()
  const serially = createSerially()
  return {
    read: async (agentId) => byAgent.get(agentId),
    list: async () => [...byAgent.values()],
    update: (agentId, change) =>
      serially(agentId, async () => {
        const pins = await change(byAgent.get(agentId))
        byAgent.set(agentId, pins)
        return pins
      }),
  }
}
