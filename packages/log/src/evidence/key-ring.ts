import { importPublicJwk, jwkThumbprint, type PublicKey } from '@agent-exchange/crypto'
import { cutoffsOf, revocationsIn, type KeyCutoff, type PackageMetadata } from '@agent-exchange/protocol'
import { Claims } from './claims.ts'
import type { EvidenceBundle, KeyRecord } from './evidence-bundle.ts'
import type { Checks } from '../verdict/check.ts'
import type { Signer } from './evidence-report.ts'

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
export async function createKeyRing({ keys, packages }: EvidenceBundle, checks: Checks): Promise<KeyRing> {
  const known = new Map<string, RingKey>()
  for (const record of keys) {
    const { agent_id, key } = record
    const usable = await imported(record)
    const name = nameOf(agent_id, key.key_id)
    if (!usable || known.has(name)) checks.fails('key_usable', { agent_id, key_id: key.key_id })
    else known.set(name, usable)
  }
  if (known.size === keys.length) checks.holds('key_usable', { values: { keys: known.size } })
  const all = [...known.values()]
  verifyOwners(
    all,
    packages.map(({ metadata }) => metadata),
    checks,
  )
  verifyHistories(all, checks)
  const byKeyId = Map.groupBy(all, ({ signer }) => signer.keyId)
  return {
    all,
    find: (agentId, keyId) => known.get(nameOf(agentId, keyId)),
    named: (keyId) => byKeyId.get(keyId) ?? [],
  }
}

/** The packages name the organizations of their agents too; another agent's organization is the exchange's word. */
function verifyOwners(keys: readonly RingKey[], packages: readonly PackageMetadata[], checks: Checks): void {
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
  failEach('key_owner', wrong, checks)
}

/** ID-04: the key shows the earliest of its revocations. */
function verifyHistories(keys: readonly RingKey[], checks: Checks): void {
  const wrong = keys.filter(({ record: { key, events } }) => {
    // A directory, from which the keys of the platform come, lists no events.
    if (events === undefined) return false
    return revocationsIn(events)[0]?.invalidFrom !== key.invalid_from
  })
  failEach('key_revocations', wrong, checks)
}

function failEach(code: 'key_owner' | 'key_revocations', wrong: readonly RingKey[], checks: Checks): void {
  for (const { signer } of wrong) checks.fails(code, { agent_id: signer.agentId, key_id: signer.keyId })
  if (wrong.length === 0) checks.holds(code)
}

/** What the exchange says about each key. Its material is shown by the fingerprint, which people can compare. */
export function sayKeyRecords({ all }: KeyRing, checks: Checks): void {
  for (const { record, fingerprint } of all) {
    const claims = new Claims(record)
    claims.cover('key/public_key/kty', 'key/public_key/crv', 'key/public_key/x', 'key/public_key/y')
    checks.claim('key_record', { fingerprint, ...(claims.rest() as object) })
  }
}

/** Whether the keys are really those of the agents is known only from elsewhere. */
export function verifyFingerprints(
  { all }: KeyRing,
  fingerprints: Readonly<Record<string, readonly string[]>>,
  checks: Checks,
): void {
  for (const { signer, fingerprint } of all) {
    const { agentId, keyId } = signer
    const known = Object.hasOwn(fingerprints, agentId) ? fingerprints[agentId] : undefined
    const about = { agent_id: agentId, key_id: keyId }
    if (known === undefined) checks.unproved('key_trusted', { ...about, values: { fingerprint } })
    else checks.check('key_trusted', known.includes(fingerprint), { ...about, values: { fingerprint } })
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
