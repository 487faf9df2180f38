import { importPublicJwk, jwkThumbprint, type PublicKey } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import { keyFault } from '../exchange/key-validity.ts'
import type { EvidenceBundle } from './evidence-bundle.ts'
import type { Findings } from './evidence-report.ts'

export interface RingKey {
  readonly agentId: string
  readonly keyId: string
  readonly publicKey: PublicKey
  readonly fingerprint: string
  readonly entry: DirectoryKey
}

/** The keys that one package's evidence came with, and the platform's. */
export interface KeyRing {
  find(agentId: string, keyId: string): RingKey | undefined
}

export interface KeyRings {
  /** In the order of the packages. */
  readonly rings: readonly KeyRing[]
  /** Keys that a ring was asked for. */
  readonly used: ReadonlyMap<string, RingKey>
}

/** Each package has to bring its own keys; where two bring the same one, it has to be the same. */
export async function createKeyRings(
  { packages, platformKeys }: EvidenceBundle,
  findings: Findings,
): Promise<KeyRings> {
  const [known, used] = [new Map<string, RingKey>(), new Map<string, RingKey>()]
  const unusable: string[] = []
  const admit = async (agentId: string, entry: DirectoryKey): Promise<string> => {
    const name = nameOf(agentId, entry.key_id)
    const key = await imported(agentId, entry)
    if (!key || (known.get(name)?.fingerprint ?? key.fingerprint) !== key.fingerprint)
      unusable.push(entry.key_id)
    else if (!known.has(name)) known.set(name, key)
    return name
  }
  const ofPlatform = await Promise.all(
    signingKeys(platformKeys.keys).map((key) => admit(platformKeys.agent_id, key)),
  )
  const rings: KeyRing[] = []
  for (const { key_history: history } of packages) {
    const shown = new Set(ofPlatform)
    for (const { agent_id, key } of history) if (key.use === 'signing') shown.add(await admit(agent_id, key))
    rings.push({
      find(agentId, keyId) {
        const name = nameOf(agentId, keyId)
        const key = shown.has(name) ? known.get(name) : undefined
        if (key) used.set(name, key)
        return key
      },
    })
  }
  const detail = unusable.length === 0 ? `${known.size} signing keys` : unusable.join(', ')
  findings.check('each key id stands for one usable key', unusable.length === 0, detail)
  return { rings, used }
}

function signingKeys(keys: readonly DirectoryKey[]): DirectoryKey[] {
  return keys.filter(({ use }) => use === 'signing')
}

/** Whether the keys are really those of the agents is known only from elsewhere. */
export function verifyFingerprints(
  { used }: KeyRings,
  fingerprints: Readonly<Record<string, readonly string[]>>,
  findings: Findings,
): void {
  for (const { agentId, keyId, fingerprint } of used.values()) {
    const known = Object.hasOwn(fingerprints, agentId) ? fingerprints[agentId] : undefined
    if (known === undefined)
      findings.unverifiable(
        `that key ${keyId} is one of ${agentId}`,
        'The exchange says so. Give the fingerprints that you have of it from elsewhere.',
      )
    else
      findings.check('the key is one that is trusted', known.includes(fingerprint), `${keyId} of ${agentId}`)
  }
}

/** ID-05 over a signature that the exchange accepted; what came before its revocation was recorded is a doubt. */
export function judgeKey(
  { entry, keyId }: RingKey,
  { claimedAt, acceptedAt }: { readonly claimedAt: string; readonly acceptedAt: string },
): { readonly ok: boolean; readonly doubt?: true; readonly detail: string } {
  const fault = keyFault(entry, claimedAt, acceptedAt)
  if (fault === undefined) return { ok: true, detail: `by ${keyId}` }
  if (fault === 'not_yet_valid') return { ok: false, detail: `${keyId} was not valid yet` }
  const isRecordedLater =
    entry.revoked_at !== undefined && Date.parse(acceptedAt) <= Date.parse(entry.revoked_at)
  return isRecordedLater
    ? { ok: true, doubt: true, detail: `${keyId} was already invalid, which was recorded only later` }
    : { ok: false, detail: `${keyId} was revoked` }
}

async function imported(agentId: string, entry: DirectoryKey): Promise<RingKey | undefined> {
  try {
    const publicKey = await importPublicJwk(entry.public_key, { use: 'signing' })
    const fingerprint = await jwkThumbprint(publicKey.jwk)
    return { agentId, keyId: entry.key_id, publicKey, fingerprint, entry }
  } catch {
    return undefined
  }
}

function nameOf(agentId: string, keyId: string): string {
  return JSON.stringify([agentId, keyId])
}
