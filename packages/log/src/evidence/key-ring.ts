import { importPublicJwk, jwkThumbprint, type PublicKey } from '@agent-exchange/crypto'
import { cutoffsOf, revocationsIn, type KeyCutoff, type PackageMetadata } from '@agent-exchange/protocol'
import { Claims } from './claims.ts'
import type { EvidenceBundle, KeyRecord } from './evidence-bundle.ts'
import { firstOf, type Findings, type Signer } from './evidence-report.ts'

export interface RingKey {
  readonly record: KeyRecord
  readonly publicKey: PublicKey
  readonly fingerprint: string
  readonly signer: Signer
  /** From when on the key does not count. */
  readonly cutoffs: readonly KeyCutoff[]
}

/** The signing keys of the bundle. */
export interface KeyRing {
  find(agentId: string, keyId: string): RingKey | undefined
  /** Keys of that id, of whichever agent: ids are unique for one agent only. */
  named(keyId: string): readonly RingKey[]
  readonly all: readonly RingKey[]
}

/** A key id names one usable key of its agent; what else the record of a key says is the exchange's word. */
export async function createKeyRing(
  { keys, packages }: EvidenceBundle,
  findings: Findings,
): Promise<KeyRing> {
  const known = new Map<string, RingKey>()
  const unusable: string[] = []
  for (const record of keys) {
    const key = await imported(record)
    const name = nameOf(record.agent_id, record.key.key_id)
    if (!key || known.has(name)) unusable.push(record.key.key_id)
    else known.set(name, key)
  }
  const detail = unusable.length === 0 ? `${known.size} signing keys` : firstOf(unusable)
  findings.check('each key id names one usable key', unusable.length === 0, detail)
  const all = [...known.values()]
  verifyOwners(
    all,
    packages.map(({ metadata }) => metadata),
    findings,
  )
  verifyHistories(all, findings)
  const byKeyId = Map.groupBy(all, ({ signer }) => signer.keyId)
  return {
    all,
    find: (agentId, keyId) => known.get(nameOf(agentId, keyId)),
    named: (keyId) => byKeyId.get(keyId) ?? [],
  }
}

/** The packages name the organizations of their agents too; another agent's organization is the exchange's word. */
function verifyOwners(
  keys: readonly RingKey[],
  packages: readonly PackageMetadata[],
  findings: Findings,
): void {
  const owners = new Map(
    packages.flatMap((metadata) => [
      [metadata.sender_agent_id, metadata.sender_org_id],
      [metadata.recipient_agent_id, metadata.recipient_org_id],
    ]),
  )
  const wrong = keys.filter(({ signer: { agentId, organizationId } }) => {
    const owner = owners.get(agentId)
    return owner !== undefined && owner !== organizationId
  })
  const detail = firstOf(wrong.map(({ signer }) => `${signer.keyId} of ${signer.agentId}`))
  findings.check('keys belong to the organizations of their agents', wrong.length === 0, detail || 'all do')
}

/** ID-04: the key shows the earliest of its revocations. */
function verifyHistories(keys: readonly RingKey[], findings: Findings): void {
  const wrong = keys.filter(({ record: { key, events } }) => {
    // A directory, from which the keys of the platform come, lists no events.
    if (events === undefined) return false
    return revocationsIn(events)[0]?.invalidFrom !== key.invalid_from
  })
  const detail = firstOf(wrong.map(({ signer }) => signer.keyId))
  findings.check('keys show the earliest of their revocations', wrong.length === 0, detail || 'all do')
}

/** What the exchange says about each key. Its material is shown by the fingerprint, which people can compare. */
export function sayKeyRecords({ all }: KeyRing, findings: Findings): void {
  for (const { record, fingerprint } of all) {
    const claims = new Claims(record)
    claims.cover('key/public_key/kty', 'key/public_key/crv', 'key/public_key/x', 'key/public_key/y')
    findings.word('the record of a signing key', { fingerprint, ...(claims.rest() as object) })
  }
}

/** Whether the keys are really those of the agents is known only from elsewhere. */
export function verifyFingerprints(
  { all }: KeyRing,
  fingerprints: Readonly<Record<string, readonly string[]>>,
  findings: Findings,
): void {
  for (const { signer, fingerprint } of all) {
    const { agentId, keyId } = signer
    const known = Object.hasOwn(fingerprints, agentId) ? fingerprints[agentId] : undefined
    if (known === undefined)
      findings.unverifiable(
        `whether key ${keyId} is one of ${agentId}`,
        'The exchange says so. Give the fingerprints that you have from the owner.',
      )
    else
      findings.check('the key is one that is trusted', known.includes(fingerprint), `${keyId} of ${agentId}`)
  }
}

async function imported(record: KeyRecord): Promise<RingKey | undefined> {
  const { organization_id: organizationId, agent_id: agentId, key } = record
  if (key.use !== 'signing') return undefined
  try {
    const publicKey = await importPublicJwk(key.public_key, { use: 'signing' })
    const fingerprint = await jwkThumbprint(publicKey.jwk)
    const signer = { agentId, organizationId, keyId: key.key_id }
    return { record, publicKey, fingerprint, signer, cutoffs: cutoffsOf(key, record.events) }
  } catch {
    return undefined
  }
}

function nameOf(agentId: string, keyId: string): string {
  return JSON.stringify([agentId, keyId])
}
