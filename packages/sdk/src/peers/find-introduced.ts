import { importPublicJwk, type PublicKey } from '@agent-exchange/crypto'
import { hasEnded } from './key-end.ts'
import { carriesIntroduction, isIntroducedBy } from './key-introduction.ts'
import { INTRODUCTION_CHECKS } from './peer-limits.ts'
import type { PinnedKey } from './peer-directory.ts'
import type { ShownDirectory, ShownKey } from './shown-directory.ts'

/**
 * Keys of the directory that a pinned signing key introduced, directly or through other keys. A revoked or expired key
 * introduces no new key: its thief could sign an introduction, and only the directory dates it.
 */
export async function findIntroduced(
  { organizationId, agentId, keys }: ShownDirectory,
  pinned: readonly PinnedKey[],
  now: string,
): Promise<readonly ShownKey[]> {
  const isPinned = new Set(pinned.map(({ keyId }) => keyId))
  let open = keys.filter(({ entry }) => !isPinned.has(entry.key_id) && carriesIntroduction(entry.key_id))
  const introducers = keys.filter(({ entry }) => isPinned.has(entry.key_id) && maySign(entry, now))
  const found: ShownKey[] = []
  let checks = 0
  for (let next = introducers.pop(); next && open.length > 0; next = introducers.pop()) {
    const introducer = await importedSigningKey(next)
    if (!introducer) continue
    const rest: ShownKey[] = []
    for (const key of open) {
      const { key_id, use } = key.entry
      const about = { organizationId, agentId, use, thumbprint: key.fingerprint }
      checks += 1
      if (checks > INTRODUCTION_CHECKS) return found
      if (!(await isIntroducedBy(introducer, key_id, about))) rest.push(key)
      else {
        found.push(key)
        if (maySign(key.entry, now)) introducers.push(key)
      }
    }
    open = rest
  }
  return found
}

function maySign(entry: ShownKey['entry'], now: string): boolean {
  return entry.use === 'signing' && !hasEnded(entry, now)
}

/** A malformed key introduces no other. */
async function importedSigningKey({ entry }: ShownKey): Promise<PublicKey | undefined> {
  try {
    return await importPublicJwk(entry.public_key, { use: 'signing' })
  } catch {
    return undefined
  }
}
