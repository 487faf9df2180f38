import {
  isSignedBy,
  signDecision,
  type Approver,
  type Decision,
  type SignedDecision,
} from '../drafts/approval.ts'
import { draftDigest, draftIdOf } from '../drafts/draft-document.ts'
import { ExchangeError } from '../errors.ts'
import { openAgentFolder, type AgentFolder } from './agent-folder.ts'
import { readApprover, unlockApprover, writeApprover, type NewApprover } from './approver-file.ts'
import type { DraftRecord } from '../drafts/draft-store.ts'
import { openDraftFiles } from './draft-files.ts'
import { withFileLock } from './file-lock.ts'

export interface DraftDecision {
  /** The agent's folder. */
  readonly folder: string
  readonly draftId: string
  /** Digest of the content that the person saw. */
  readonly digest: string
  readonly decision: Decision
  /** The approver passphrase. Nothing but the desk asks for it. */
  readonly passphrase: string
  /** Who decided, and why. Both are signed and stay in the folder. */
  readonly name: string
  readonly reason: string
  readonly now?: () => Date
}

/**
 * Records a person's decision about a draft: a signature of the approver's key over its digest, the decision and the
 * time. The desk is its only caller: a program that has the passphrase takes the place of the person.
 *
 * @example
 * const draft = await agent.drafts.get(draftId)
 * await approveDraft({ folder, draftId, digest: draft.digest, decision: 'approved', passphrase, name, reason })
 */
export async function approveDraft(input: DraftDecision): Promise<SignedDecision> {
  const { folder, draftId, digest, decision, passphrase, now = () => new Date() } = input
  const [name, reason] = [input.name.trim(), input.reason.trim()]
  if (name === '' || reason === '')
    throw new ExchangeError('input_invalid', { what: 'Give a name and a reason.' })
  const { files } = await openAgentFolder(folder)
  const drafts = openDraftFiles(files.drafts)
  await drafts.read(draftId)
  const approver = await unlockApprover(files.approver, passphrase)
  const decided = await drafts.decide(draftId, async ({ content }) => {
    const draftDigestNow = await draftDigest(content)
    // The person signs what was shown, and only if it is still what is stored.
    if (draftDigestNow !== digest || draftIdOf(draftDigestNow) !== draftId)
      throw new ExchangeError('draft_altered', { details: { draftId } })
    const decidedAt = now().toISOString()
    return signDecision({ draftId, draftDigest: digest, decision, decidedAt, name, reason }, approver)
  })
  if (!decided.decision) throw new ExchangeError('draft_unreadable', { details: { draftId } })
  return decided.decision
}

export type ApproverOptions = Omit<NewApprover, 'now'> & { readonly now?: () => Date }

/**
 * Registers the approver of a folder: makes its key and encrypts it with the approver passphrase.
 *
 * @example
 * await initApprover('./aex-agent', { passphrase })
 */
export async function initApprover(folder: string, options: ApproverOptions): Promise<Approver> {
  return changing(folder, async ({ approver: file }) => {
    if (await readApprover(file)) throw new ExchangeError('approver_exists')
    await writeApprover(file, timed(options))
  })
}

/** Replaces the approver's key and passphrase. Needs the old passphrase; decisions about open drafts stay valid. */
export async function replaceApprover(
  folder: string,
  oldPassphrase: string,
  options: ApproverOptions,
): Promise<Approver> {
  return changing(folder, async (files) => {
    const before = await registered(files.approver)
    await unlockApprover(files.approver, oldPassphrase)
    const next = await writeApprover(files.approver, { approves: before.approves, ...timed(options) })
    const drafts = openDraftFiles(files.drafts)
    const signAgain = async ({ decision }: DraftRecord) =>
      decision && (await isSignedBy(decision, before))
        ? signDecision(inputOf(decision), next, decision.approval_reference)
        : undefined
    for (const draftId of await drafts.ids()) await drafts.decide(draftId, signAgain).catch(ignoreDraftError)
  })
}

/** Replaces the approver without the old passphrase. Every decision about an open draft is void from then on. */
export async function resetApprover(folder: string, options: ApproverOptions): Promise<Approver> {
  return changing(folder, async ({ approver: file }) => void (await writeApprover(file, timed(options))))
}

/** One change of the approver at a time. */
async function changing(
  folder: string,
  work: (files: AgentFolder['files']) => Promise<void>,
): Promise<Approver> {
  const { files } = await openAgentFolder(folder)
  return withFileLock(`${files.approver}.lock`, async () => {
    await work(files)
    return registered(files.approver)
  })
}

function timed({ now = () => new Date(), ...options }: ApproverOptions): NewApprover {
  return { ...options, now: now() }
}

/** A damaged, sent or discarded draft has no decision to keep. */
function ignoreDraftError(error: unknown): void {
  if (!(error instanceof ExchangeError) || !error.code.startsWith('draft_')) throw error
}

/** The registered approver of a folder; undefined if there is none. */
export async function approverOf(folder: string): Promise<Approver | undefined> {
  const { files } = await openAgentFolder(folder)
  return readApprover(files.approver)
}

async function registered(file: string): Promise<Approver> {
  const approver = await readApprover(file)
  if (!approver) throw new ExchangeError('approver_missing')
  return approver
}

function inputOf(decision: SignedDecision): Parameters<typeof signDecision>[0] {
  return {
    draftId: decision.draft_id,
    draftDigest: decision.draft_digest,
    decision: decision.decision,
    decidedAt: decision.decided_at,
    name: decision.name,
    reason: decision.reason,
  }
}
