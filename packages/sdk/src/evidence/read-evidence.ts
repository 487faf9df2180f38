import type { PackageEvidence, ThreadEvidence } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { readPages } from '../exchange/pages.ts'
import { readThread } from '../exchange/read-thread.ts'
import { EVIDENCE_FORMAT, type EvidenceBundle } from './evidence-bundle.ts'

/** Packages of one thread whose evidence is collected. */
const MAXIMUM_PACKAGES = 1_000

export type EvidenceSubject =
  | { readonly threadId: string; readonly packageId?: undefined }
  | { readonly packageId: string; readonly threadId?: undefined }

/**
 * AUD-01: collects the evidence of a package or of a whole thread, with the keys that prove it. Keep it: what you
 * hold yourself cannot be taken back.
 *
 * @example
 * const evidence = await readEvidence(context, { packageId: 'pkg_1' })
 * const { verdict } = await verifyEvidence(evidence)
 */
export async function readEvidence(context: AgentContext, subject: EvidenceSubject): Promise<EvidenceBundle> {
  const packageIds =
    subject.packageId === undefined ? await packagesOf(context, subject.threadId) : [subject.packageId]
  const packages: PackageEvidence[] = []
  for (const packageId of packageIds) packages.push(await packageEvidence(context, packageId))
  const threadId = subject.threadId ?? packages[0]?.thread_id ?? ''
  // The chain last: it grows while it is read, and has to hold every entry that the packages show.
  const thread = await threadEvidence(context, threadId)
  const platformKeys = await context.connection.call('getAgentKeys', {
    path: { agent_id: context.profile['O-42'].agent_id },
  })
  return {
    format: EVIDENCE_FORMAT,
    collectedAt: context.now().toISOString(),
    thread,
    packages,
    platformKeys,
  }
}

async function packagesOf(context: AgentContext, threadId: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { packages } of readThread(context, threadId)) {
    ids.push(...packages.map(({ package_id }) => package_id))
    if (ids.length > MAXIMUM_PACKAGES)
      throw new ExchangeError('exchange_answer_unreadable', {
        what: `The thread has more than ${MAXIMUM_PACKAGES} packages; collect them one by one.`,
      })
  }
  return ids
}

async function packageEvidence({ connection }: AgentContext, packageId: string): Promise<PackageEvidence> {
  const path = { package_id: packageId }
  return inOne(readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } })))
}

async function threadEvidence({ connection }: AgentContext, threadId: string): Promise<ThreadEvidence> {
  const path = { thread_id: threadId }
  return inOne(readPages((after) => connection.call('getThreadAuditEvidence', { path, query: { after } })))
}

/** The newest page with the entries of all of them. */
async function inOne<P extends ThreadEvidence | PackageEvidence>(pages: AsyncIterable<P>): Promise<P> {
  const entries: P['entries'] = []
  let last: P | undefined
  for await (const page of pages) {
    entries.push(...page.entries)
    last = page
  }
  if (!last) throw new ExchangeError('exchange_answer_unreadable', { what: 'There is no evidence.' })
  return { ...last, entries, next_cursor: null, has_more: false }
}
