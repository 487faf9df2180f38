import { areEqual } from './claims.ts'
import type { EntryCase, EntryVerdict } from './entry-case.ts'
import { firstOf } from './evidence-report.ts'
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

const WORDS = new Map([
  ['content_fetched', 'that the content was fetched'],
  ['delivery_replayed', 'that a notification was delivered again'],
])

export function needsSignature(kind: string): boolean {
  return SIGNED_KINDS.has(kind) || kind.startsWith(RECEIPT_PREFIX)
}

/** Follows a package through its entries: each rests on a signature or is reported as the exchange's word. */
export async function verifyEntries(subject: Omit<EntryCase, 'entry'>): Promise<void> {
  const { entries, metadata, packageId, findings } = subject
  const progress = new PackageProgress(metadata.transport_mode)
  const [differing, faults]: [string[], string[]] = [[], []]
  let previous: { entry: EntryClaims; verdict: EntryVerdict } | undefined
  for (const entry of entries) {
    const { position } = entry.value
    const isRepeated = previous && repeats(entry, previous.entry)
    const verdict = isRepeated && previous ? previous.verdict : await verifyOne({ ...subject, entry })
    verifyEvent(entry, metadata.thread_id, verdict.facts && { ...verdict.facts, packageId })
    if (isRepeated) coverRepeated(entry)
    else
      faults.push(
        ...applyMove({ ...subject, entry }, verdict, progress).map((fault) => `entry ${position}: ${fault}`),
      )
    differing.push(...entry.differing.map((path) => `entry ${position}: ${path}`))
    const rest = entry.rest()
    if (rest !== undefined) findings.word(verdict.word, rest, { packageId, position })
    previous = { entry, verdict }
  }
  const about = { packageId }
  findings.check(
    'entries repeat what was signed',
    differing.length === 0,
    firstOf(differing) || 'all do',
    about,
  )
  findings.check('states follow from the entries', faults.length === 0, firstOf(faults) || 'all do', about)
  const { state, signedState } = progress
  if (state === undefined) return
  findings.state({ packageId, state, signedState })
  if (state !== signedState)
    findings.word(
      'the state of a package beyond what is signed',
      { state, signed: signedState ?? null },
      about,
    )
}

async function verifyOne(subject: EntryCase): Promise<EntryVerdict> {
  const { kind } = subject.entry.value.proof
  if (kind.startsWith(RECEIPT_PREFIX)) return verifyReceiptEntry(subject)
  const verify = SIGNED_KINDS.get(kind)
  if (verify) return verify(subject)
  const word = WORDS.get(kind) ?? 'an entry of a kind that this verifier does not know'
  return { isSigned: false, word, leadsTo: ['encrypted_available', 'transfer_started', 'delivered'] }
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

/** What the entry does to the package; faults where that does not follow. */
function applyMove(
  { entry, profile }: EntryCase,
  { isSigned, leadsTo }: EntryVerdict,
  progress: PackageProgress,
): string[] {
  const { kind } = entry.value.proof
  if (kind === 'policy_receipt_accepted' || kind === 'approval_recorded') return []
  if (kind === 'package_accepted' && entry.has('proof/acceptance')) {
    const states = entry.at('proof/states')
    return listed(progress.accept(Array.isArray(states) ? states : [], isSigned))
  }
  if (progress.state === undefined) return ['it comes before the acceptance']
  if (progress.state === 'revoked' && needsSignature(kind) && !isRecordedReceipt(entry))
    return ['the package was already revoked']
  if (kind === 'response_accepted' && !entry.has('proof/state'))
    return profile['O-03'].response_accepted ? listed(progress.respond(isSigned)) : []
  if (!entry.has('proof/state')) return []
  const to = entry.at('proof/state')
  if (!leadsTo.some((state) => state === to))
    return [`an entry ${kind} does not lead to ${JSON.stringify(to)}`]
  const found = progress.move({ to, implied: entry.at('proof/implied_states'), isSigned })
  if (found === undefined && isSigned) entry.cover('proof/state', 'proof/implied_states')
  return listed(found)
}

function listed(fault: string | undefined): string[] {
  return fault === undefined ? [] : [fault]
}
