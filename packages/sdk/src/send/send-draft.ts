import { canonicalize, parseEnvelope } from '@agent-exchange/crypto'
import { policyDigest } from '@agent-exchange/log'
import type { PackageMetadata, PolicyReceipt } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { uncheckedWarnings, watchLog, type LogWatch } from '../log/watch-log.ts'
import { placeholderWarnings } from '../objects/placeholders.ts'
import { obtainApproval } from './approval.ts'
import { deliverEntry, report } from './entry-delivery.ts'
import { evaluateDraft } from './evaluate-draft.ts'
import { MAXIMUM_DEPTH } from '../objects/content-limits.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import { unseal } from '../agent-keys/unseal.ts'
import { sealDraft } from './seal-draft.ts'
import type { Draft, SendDependencies, SentPackage } from './send-input.ts'
import { chooseTransport } from './delivery-mode.ts'

/** The common steps of packages and responses. */
export async function sendDraft(
  context: AgentContext,
  draft: Draft,
  deps: SendDependencies,
): Promise<SentPackage> {
  const { outbox } = deps
  const { packageId } = draft
  const watched = watchLog(context)
  const kept = await outbox.read(packageId)
  if (kept && kept.state !== 'refused') return resumeExisting(context, draft, kept, deps, await watched)

  const about = { packageId }
  report(deps, about, 'validated')
  const evaluated = await evaluateDraft(context, draft, deps.signal)
  report(deps, about, 'checked')
  const watch = await watched
  const approval = await obtainApproval(context, draft, evaluated.evaluation)
  if (approval.required) report(deps, about, 'approved')
  const transportMode = await chooseTransport(context, draft, evaluated.recipientAgent, deps)
  const sealed = await sealDraft(context, { draft, ...evaluated, approval, transportMode })
  const added = await outbox.add(sealed)
  // A concurrent call added an entry with the same id first.
  if (added.receiptKey !== sealed.receiptKey) return resumeExisting(context, draft, added, deps, watch)
  report(deps, about, 'sealed')
  return toSent(await deliverEntry(context, added, deps), draft, { resumed: false, watch })
}

/** Delivers an entry of an earlier call, whatever a new call would send under its id. */
export async function resumeEntry(
  context: AgentContext,
  entry: OutboxEntry,
  deps: SendDependencies,
): Promise<SentPackage> {
  const warnings = uncheckedWarnings(await watchLog(context))
  return { ...sentFrom((await deliverEntry(context, entry, deps)).metadata, true), warnings }
}

/** An earlier call used this id. Resumes the same package; another package is a conflict. */
async function resumeExisting(
  context: AgentContext,
  draft: Draft,
  entry: OutboxEntry,
  deps: SendDependencies,
  watch: LogWatch,
): Promise<SentPackage> {
  if (!(await isSame(context, draft, entry)))
    throw new ExchangeError('outbox_conflict', { details: { packageId: entry.packageId } })
  return toSent(await deliverEntry(context, entry, deps), draft, { resumed: true, watch })
}

/**
 * The outbox keeps neither plaintext nor its digest, from which content could be guessed. The content is sealed for
 * its sender too, so this agent decrypts it to compare.
 */
async function isSame(context: AgentContext, draft: Draft, { metadata, ...entry }: OutboxEntry) {
  const { to, skill, threadId, respondsTo, policy, object } = draft
  const sameRoute =
    metadata.recipient_org_id === to.organizationId &&
    metadata.recipient_agent_id === to.agentId &&
    metadata.thread_id === threadId &&
    metadata.skill_id === skill.id &&
    metadata.skill_version === skill.version &&
    metadata.responds_to_package_id === respondsTo
  const receipt = JSON.parse(entry.receiptText) as PolicyReceipt
  if (!sameRoute || receipt.policy_digest !== (await policyDigest(policy))) return false
  const contentTypes = [metadata.content_type]
  const { jwe } = parseEnvelope(entry.envelopeText, { contentTypes, maxDepth: MAXIMUM_DEPTH })
  const { plaintext } = await unseal(context, jwe, contentTypes)
  return new TextDecoder().decode(plaintext) === canonicalize(object)
}

function toSent(
  { metadata }: OutboxEntry,
  { object }: Draft,
  { resumed, watch }: { readonly resumed: boolean; readonly watch: LogWatch },
): SentPackage {
  const warnings = [...placeholderWarnings(object), ...uncheckedWarnings(watch)]
  return { ...sentFrom(metadata, resumed), warnings }
}

export function sentFrom(metadata: PackageMetadata, resumed: boolean): SentPackage {
  return {
    packageId: metadata.package_id,
    threadId: metadata.thread_id,
    metadata,
    policyReceiptId: metadata.policy_receipt_id,
    resumed,
    warnings: [],
  }
}
