import { encryptionKeyFault, isEarlier } from '@agent-exchange/protocol'
import type { ShownDirectory, ShownKey } from './shown-directory.ts'

/** The key to seal for: valid and not ended; active keys first, then the newest. */
export function newestUsable({ keys }: ShownDirectory, now: string): ShownKey | undefined {
  return keys.filter(({ entry }) => isUsable(entry, now)).reduce<ShownKey | undefined>(better, undefined)
}

function isUsable(entry: ShownKey['entry'], now: string): boolean {
  const { valid_until } = entry
  const isOver = valid_until !== undefined && isEarlier(now, valid_until) !== true
  return !isOver && encryptionKeyFault(entry, now) === undefined
}

function better(best: ShownKey | undefined, key: ShownKey): ShownKey {
  if (!best) return key
  const isActive = key.entry.status === 'active'
  if (isActive !== (best.entry.status === 'active')) return isActive ? key : best
  return isEarlier(best.entry.valid_from, key.entry.valid_from) ? key : best
}
