import type { EvidenceBundle, KeyRecord } from '@agent-exchange/log'

/** The same evidence with keys of agents that were stolen before the first entry, as was recorded after the last one. */
export function disowned(evidence: EvidenceBundle): EvidenceBundle {
  const [first, last] = [evidence.entries[0], evidence.entries.at(-1)]
  const invalid_from = first?.proof.recorded_at ?? ''
  const recorded_at = new Date(Date.parse(last?.proof.recorded_at ?? '') + 1_000).toISOString()
  const keys = evidence.keys.map(({ key, events, ...owner }): KeyRecord => {
    const [registered] = events ?? []
    if (!registered || !events) return { ...owner, key }
    const revoked = { ...registered, kind: 'revoked' as const, recorded_at, details: { invalid_from } }
    const ended = { ...key, status: 'revoked' as const, invalid_from, revoked_at: recorded_at }
    return { ...owner, key: ended, events: [...events, revoked] }
  })
  return { ...evidence, keys }
}
