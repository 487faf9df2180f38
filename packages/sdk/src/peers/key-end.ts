import { isEarlier, type PublicKey } from '@agent-exchange/protocol'

type Entry = Pick<PublicKey, 'status' | 'invalid_from' | 'revoked_at'>

/** ID-04: when a key ends according to the directory; undefined if it has no end. */
export function endOf({ status, invalid_from, revoked_at }: Entry, now: string): string | undefined {
  return invalid_from ?? (status === 'revoked' ? (revoked_at ?? now) : undefined)
}

/** ID-05: the time of the end decides, not the status. */
export function hasEnded(entry: Entry, now: string): boolean {
  const end = endOf(entry, now)
  return end !== undefined && isEarlier(now, end) !== true
}
