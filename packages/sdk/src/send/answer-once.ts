import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import type { PackageMetadata, ResponseObject } from '@agent-exchange/protocol'
import type { AgentAddress, AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { packageIdFor } from './package-id.ts'
import { respondToPackage } from './respond-to-package.ts'
import { resumeEntry, sentFrom } from './send-draft.ts'
import type { RespondInput, SendDependencies, SentPackage } from './send-input.ts'

/** Identifies one answer of an agent to one package. */
export interface AnswerIntent {
  readonly packageId: string
  /** Distinguishes several answers to the same package. */
  readonly key: string
  /** Secret of this agent, so that nobody can take the id of the answer first. */
  readonly seed: string
}

/**
 * Answers a package once per intent: ids are derived from the intent, and an answer that an earlier call sealed or sent
 * is delivered instead of the given one. A handler that is called again after a crash may word its answer differently.
 */
export async function answerOnce(
  context: AgentContext,
  intent: AnswerIntent,
  input: RespondInput & { readonly to: AgentAddress },
  deps: SendDependencies,
): Promise<SentPackage> {
  const object = await withDerivedIds(input.object, intent)
  const packageId = await packageIdFor(context.identity, object, input.to)
  const kept = await deps.outbox.read(packageId)
  if (kept && kept.state !== 'refused') return resumeEntry(context, kept, deps)
  try {
    return await respondToPackage(context, intent.packageId, { ...input, object }, deps)
  } catch (error) {
    // The outbox lost the answer that the exchange accepted, as a memory outbox does with every restart.
    const known = isIdentifierConflict(error) && (await earlierAnswer(context, packageId, intent.packageId))
    if (known) return sentFrom(known, true)
    throw error
  }
}

async function withDerivedIds(
  object: ResponseObject,
  { packageId, key, seed }: AnswerIntent,
): Promise<ResponseObject> {
  const digest = parseDigest(await sha256Digest(canonicalBytes(['answer', seed, packageId, key])))
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { ...object, id: `resp_${hex}`, trace: { ...object.trace, idempotency_key: `idem_${hex}` } }
}

async function earlierAnswer(
  { connection, identity }: AgentContext,
  packageId: string,
  original: string,
): Promise<PackageMetadata | undefined> {
  const { metadata } = await connection.call('getPackage', { path: { package_id: packageId } })
  const isOurs = metadata.sender_agent_id === identity.agentId && metadata.responds_to_package_id === original
  return isOurs ? metadata : undefined
}

function isIdentifierConflict(error: unknown): boolean {
  return error instanceof ExchangeError && error.problem?.code === 'identifier_conflict'
}
