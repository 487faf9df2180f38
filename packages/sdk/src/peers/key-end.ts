import { isEarlier, type PublicKey } from '@agent-exchange/protocol'

type Entry = Pick<PublicKey, 'status' | 'invalid_from' | 'revoked_at'>

/** ID-04: from when on a key no longer counts, as the directory shows it; undefined where it has no end. */
export function endOf({ status, invalid_from, revoked_at }: Entry, now: string): string | undefined {
  return invalid_from ?? (status === 'revoked' ? (revoked_at ?? now) : undefined)
}

/** ID-05: an end in the future does not end a key today, and one that has passed does, whatever its status says. */
export function hasEnded(entry: Entry, now: string): boolean {
  const end = endOf(entry, now)
  return end !== undefined && isEarlier(now, end) !== true
}
