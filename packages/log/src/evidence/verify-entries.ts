import type { ClaimCode } from '../verdict/check-codes.ts'
import type { FaultCode } from '../verdict/fault-codes.ts'
import { areEqual } from './claims.ts'
import type { EntryCase, EntryVerdict } from './entry-case.ts'
import { PackageProgress } from './package-progress.ts'
import { verifyAcceptanceEntry, verifyPolicyEntry } from './verify-acceptance-entry.ts'
import type { EntryClaims } from './verify-chain.ts'
import { verifyEvent } from './verify-event.ts'
import { RECEIPT_PREFIX, verifyReceiptEntry } from './verify-receipt-entry.ts'
import { verifyResponseEntry } from './verify-response-entry.ts'
import { verifyRevocationEntry } from './verify-revocation-entry.ts'

type VerifyEntry = (subject: EntryCase) => EntryVerdict | Promise<EntryVerdict>

/** Kinds of entries that need a signed statement. Everything else is the exchange's word. */
const SIGNED_KINDS = new Map<string, VerifyEntry>([
  ['policy_receipt_accepted', verifyPolicyEntry],
  ['approval_recorded', verifyPolicyEntry],
  ['package_accepted', verifyAcceptanceEntry],
  ['response_accepted', verifyResponseEntry],
  ['package_revoked', verifyRevocationEntry],
])

const CLAIMS: ReadonlyMap<string, ClaimCode> = new Map([
  ['content_fetched', 'content_fetched'],
  ['delivery_replayed', 'delivery_replayed'],
])

export function needsSignature(kind: string): boolean {
  return SIGNED_KINDS.has(kind) || kind.startsWith(RECEIPT_PREFIX)
}

/** Follows a package through its entries: each rests on a signature or is reported as the exchange's word. */
export async function verifyEntries(subject: Omit<EntryCase, 'entry'>): Promise<void> {
  const { entries, metadata, packageId, checks } = subject
  const progress = new PackageProgress(metadata.transport_mode)
  let [repeatsSigned, follows] = [true, true]
  let previous: { entry: EntryClaims; verdict: EntryVerdict } | undefined
  for (const entry of entries) {
    const about = { package_id: packageId, position: entry.value.position }
    const isRepeated = previous && repeats(entry, previous.entry)
    const verdict = isRepeated && previous ? previous.verdict : await verifyOne({ ...subject, entry })
    verifyEvent(entry, metadata.thread_id, verdict.facts && { ...verdict.facts, packageId })
    if (isRepeated) coverRepeated(entry)
    else {
      const fault = applyMove({ ...subject, entry }, verdict, progress)
      if (fault !== undefined) follows = checks.fails('entry_state', { ...about, values: { fault } })
    }
    const members = entry.differing.join(', ')
    if (members !== '')
      repeatsSigned = checks.fails('entry_repeats_signed', { ...about, values: { members } })
    const rest = entry.rest()
    if (rest !== undefined) checks.claim(verdict.claim, rest, about)
    previous = { entry, verdict }
  }
  const about = { package_id: packageId }
  if (repeatsSigned) checks.holds('entry_repeats_signed', about)
  if (follows) checks.holds('entry_state', about)
  const { state, signedState } = progress
  if (state === undefined) return
  subject.states.push({ packageId, state, signedState })
  if (state !== signedState) checks.claim('state', { state, signed: signedState ?? null }, about)
}

async function verifyOne(subject: EntryCase): Promise<EntryVerdict> {
  const { kind } = subject.entry.value.proof
  if (kind.startsWith(RECEIPT_PREFIX)) return verifyReceiptEntry(subject)
  const verify = SIGNED_KINDS.get(kind)
  if (verify) return verify(subject)
  const claim = CLAIMS.get(kind) ?? 'unknown_kind'
  return { isSigned: false, claim, leadsTo: ['encrypted_available', 'transfer_started', 'delivered'] }
}

/** O-26: where one step leaves several audit events, each has its entry with the same proof. */
function repeats(entry: EntryClaims, previous: EntryClaims): boolean {
  const isNext = entry.value.position === previous.value.position + 1
  return (
    isNext && entry.has('event') && previous.has('event') && areEqual(unlinked(entry), unlinked(previous))
  )
}

function unlinked({ value }: EntryClaims): object {
  return { ...value.proof, hash: '', previous_hash: '' }
}

function coverRepeated(entry: EntryClaims): void {
  for (const name of Object.keys(entry.value.proof))
    if (name !== 'previous_hash') entry.cover(`proof/${name}`)
}

/** PKG-08: a receipt about a revoked package is recorded and moves nothing. */
function isRecordedReceipt(entry: EntryClaims): boolean {
  return entry.value.proof.kind.startsWith(RECEIPT_PREFIX) && !entry.has('proof/state')
}

/** What the entry does to the package; a fault where that does not follow. */
function applyMove(
  { entry, profile }: EntryCase,
  { isSigned, leadsTo }: EntryVerdict,
  progress: PackageProgress,
): FaultCode | undefined {
  const { kind } = entry.value.proof
  if (kind === 'policy_receipt_accepted' || kind === 'approval_recorded') return undefined
  if (kind === 'package_accepted' && entry.has('proof/acceptance')) {
    const states = entry.at('proof/states')
    return progress.accept(Array.isArray(states) ? states : [], isSigned)
  }
  if (progress.state === undefined) return 'before_acceptance'
  if (progress.state === 'revoked' && needsSignature(kind) && !isRecordedReceipt(entry))
    return 'already_revoked'
  if (kind === 'response_accepted' && !entry.has('proof/state'))
    return profile['O-03'].response_accepted ? progress.respond(isSigned) : undefined
  if (!entry.has('proof/state')) return undefined
  const to = entry.at('proof/state')
  if (!leadsTo.some((state) => state === to)) return 'kind_leads_elsewhere'
  const found = progress.move({ to, implied: entry.at('proof/implied_states'), isSigned })
  if (found === undefined && isSigned) entry.cover('proof/state', 'proof/implied_states')
  return found
}
