import {
  isHidden,
  type CapsuleKey,
  type CapsulePackage,
  type Disclosure,
  type HiddenEntry,
  type KeyRecord,
  type PackageHead,
  type ShownEntry,
} from '@agent-exchange/log'
import type {
  EvidenceEntry,
  HiddenEvidenceEntry,
  PackageEvidence,
  PackageMetadata,
  Signature,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { collectKeys } from './collect-keys.ts'
import { packagesOf, readPackageEvidence, responsesTo, type EvidenceSubject } from './package-evidence.ts'
import { pause } from '../pause-and-backoff.ts'
import { fetchHeads, isUnknownToLog } from '../log/log-answers.ts'

/** Evidence may come from a replica that is behind the statement about the end of the chain. */
const CATCH_UP_TRIES = 20
const CATCH_UP_MS = 250

/** The chains of the packages of a subject, without the log. */
export interface CollectedChains {
  readonly threadId: string
  readonly packages: readonly Omit<CapsulePackage, 'records'>[]
  readonly keys: readonly CapsuleKey[]
  /** Packages from before version 2, which are not among them. */
  readonly earlier: number
}

interface ChainOptions {
  readonly disclosures?: ReadonlyMap<string, Disclosure>
  /** Packages of the subject that are collected. Defaults to all. */
  readonly isShown?: (metadata: PackageMetadata) => boolean
}

/** Undefined where all packages of the subject are from before version 2. */
export async function collectChains(
  context: AgentContext,
  subject: EvidenceSubject,
  { disclosures = new Map(), isShown = () => true }: ChainOptions = {},
): Promise<CollectedChains | undefined> {
  const ids = await packageIdsOf(context, subject)
  const heads = await headsOf(context, subject, ids)
  const found: PackageEvidence[] = []
  for (const id of ids) {
    const head = heads.get(id)
    if (head) found.push(await evidenceUpTo(context, head))
  }
  if (found.length === 0) return undefined
  const evidence = found.filter((each) => isShown(each.package.metadata))
  const [first] = evidence
  if (!first || (subject.packageId !== undefined && first.package_id !== subject.packageId))
    throw new ExchangeError('package_not_for_us')
  const packages = evidence.map((each) => {
    const disclosure = disclosures.get(each.package_id)
    return { ...toPackage(each, heads.get(each.package_id)), ...(disclosure && { disclosure }) }
  })
  const threadId = subject.threadId ?? first.thread_id
  return {
    threadId,
    packages,
    keys: await keysOf(context, packages, evidence),
    earlier: ids.length - found.length,
  }
}

/** The packages of a subject, whoever of the organization sent or received them. */
export async function packageIdsOf(context: AgentContext, subject: EvidenceSubject): Promise<string[]> {
  if (subject.packageId === undefined) return packagesOf(context, subject.threadId)
  return [subject.packageId, ...responsesTo(await readPackageEvidence(context, subject.packageId))]
}

/** Before the evidence, so that the chains that are read afterwards reach these ends. */
async function headsOf(
  context: AgentContext,
  { threadId }: EvidenceSubject,
  ids: readonly string[],
): Promise<Map<string, PackageHead>> {
  const subjects = threadId === undefined ? ids.map((id) => ({ package_id: id })) : [{ thread_id: threadId }]
  const heads = new Map<string, PackageHead>()
  for (const each of subjects)
    for (const head of await headsOrNone(context, each)) heads.set(head.package_id, head)
  return heads
}

/** An exchange from before version 2 has no heads. */
async function headsOrNone(
  context: AgentContext,
  subject: Parameters<typeof fetchHeads>[1],
): Promise<PackageHead[]> {
  try {
    return await fetchHeads(context, subject)
  } catch (error) {
    if (isUnknownToLog(error)) return []
    throw error
  }
}

async function evidenceUpTo(context: AgentContext, head: PackageHead): Promise<PackageEvidence> {
  for (let tries = 1; ; tries++) {
    const evidence = await readPackageEvidence(context, head.package_id)
    const shown = [...evidence.entries, ...(evidence.hidden_entries ?? [])]
    if (shown.some(({ chain }) => chain?.position === head.position)) return evidence
    if (tries === CATCH_UP_TRIES)
      throw new ExchangeError('exchange_answer_unreadable', {
        what: `The exchange states that ${head.package_id} has ${head.position} entries, and does not show them.`,
      })
    await pause(CATCH_UP_MS)
  }
}

/** What was recorded after the head was stated belongs to another capsule. */
export function toPackage(
  { package: resource, policy_receipt, entries, hidden_entries = [] }: PackageEvidence,
  head?: PackageHead,
): Omit<CapsulePackage, 'records'> {
  const { metadata, edc, sender_signature } = resource
  const end = head?.position ?? Infinity
  const shown = [...entries.flatMap(shownEntry), ...hidden_entries.map(hiddenEntry)]
  return {
    metadata,
    policy_receipt: policy_receipt.receipt,
    ...(edc && { edc }),
    ...(sender_signature && { sender_signature: inOneSpelling(sender_signature) }),
    entries: shown.filter(({ position }) => position <= end).toSorted((a, b) => a.position - b.position),
    ...(head && { head: { ...head, signature: inOneSpelling(head.signature) } }),
  }
}

/** Base64url without padding: capsules have one spelling of what no hash covers. */
function inOneSpelling(signature: Signature): Signature {
  return {
    ...signature,
    signature: signature.signature.replace(/=+$/u, '').replaceAll('+', '-').replaceAll('/', '_'),
  }
}

function shownEntry({ event, proof, chain }: EvidenceEntry): ShownEntry[] {
  if (!chain) return []
  const { position, visibility } = chain
  return [{ position, visibility, ...(event && { event }), proof: { ...proof } }]
}

function hiddenEntry({ kind, chain }: HiddenEvidenceEntry): HiddenEntry {
  return { position: chain.position, kind, visibility: 'one', body_hash: chain.body_hash }
}

/** The keys that signatures name, the heads' too, in the form of a capsule. */
async function keysOf(
  context: AgentContext,
  packages: readonly Omit<CapsulePackage, 'records'>[],
  evidence: readonly PackageEvidence[],
): Promise<CapsuleKey[]> {
  const entries = packages.flatMap((each) => each.entries.filter((entry) => !isHidden(entry)))
  const records = await collectKeys(context, { entries, packages }, evidence)
  records.push(...(await disclosingKeys(context, packages, records)))
  return records.map(({ organization_id, agent_id, key }) => {
    const { kty, crv, x, y } = key.public_key
    return { organization_id, agent_id, key_id: key.key_id, public_key: { kty, crv, x, y } }
  })
}

/** Own keys that signed nothing of the packages but their disclosure. */
async function disclosingKeys(
  { connection, identity }: AgentContext,
  packages: readonly Pick<CapsulePackage, 'disclosure'>[],
  found: readonly KeyRecord[],
): Promise<KeyRecord[]> {
  const shown = new Set(
    found.filter((each) => each.agent_id === identity.agentId).map(({ key }) => key.key_id),
  )
  const missing = new Set(
    packages.flatMap(({ disclosure }) =>
      disclosure && !shown.has(disclosure.signature.key_id) ? [disclosure.signature.key_id] : [],
    ),
  )
  if (missing.size === 0) return []
  const path = { agent_id: identity.agentId }
  const { organization_id, agent_id, keys } = await connection.call('getAgentKeys', { path })
  return keys.filter(({ key_id }) => missing.has(key_id)).map((key) => ({ organization_id, agent_id, key }))
}
