import { canonicalize } from '@agent-exchange/crypto'
import { MAXIMUM_PACKAGES } from '@agent-exchange/log'
import type { PackageEvidence, ThreadEvidence } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { readPages } from '../connection/read-pages.ts'
import { readThread } from '../connection/read-thread.ts'

/** A whole thread, or one package with the responses to it. */
export type EvidenceSubject =
  | { readonly threadId: string; readonly packageId?: undefined }
  | { readonly packageId: string; readonly threadId?: undefined }

export async function readThreadEvidence(
  { connection }: AgentContext,
  threadId: string,
): Promise<ThreadEvidence> {
  const path = { thread_id: threadId }
  return inOne(readPages((after) => connection.call('getThreadAuditEvidence', { path, query: { after } })))
}

export async function readPackageEvidence(
  { connection }: AgentContext,
  packageId: string,
): Promise<PackageEvidence> {
  const path = { package_id: packageId }
  return inOne(readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } })))
}

/** The packages of a thread that this agent's organization is a party to. */
export async function packagesOf(context: AgentContext, threadId: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { packages } of readThread(context, threadId))
    ids.push(
      ...limited(
        packages.map(({ package_id }) => package_id),
        ids.length,
      ),
    )
  return ids
}

/** The packages that answer this one. */
export function responsesTo({ entries }: PackageEvidence): readonly string[] {
  const responses = entries.flatMap(({ proof }) => {
    const id: unknown = proof.kind === 'response_accepted' && Reflect.get(proof, 'response_package_id')
    return typeof id === 'string' ? [id] : []
  })
  return limited([...new Set(responses)])
}

function limited(ids: readonly string[], before = 0): readonly string[] {
  if (ids.length + before < MAXIMUM_PACKAGES) return ids
  throw new ExchangeError('exchange_answer_unreadable', {
    what: `There are ${MAXIMUM_PACKAGES} packages or more; collect the evidence of single ones.`,
  })
}

/** Lists of evidence that share the cursor of its pages; a service without paging repeats them on each page. */
const PAGED = ['entries', 'hidden_entries', 'delivery_attempts', 'unlinked_entries']

/** The newest page, with the lists of all of them. */
async function inOne<P extends ThreadEvidence | PackageEvidence>(pages: AsyncIterable<P>): Promise<P> {
  const lists = new Map<string, unknown[]>()
  let last: P | undefined
  for await (const page of pages) {
    for (const name of PAGED) {
      const list: unknown = Reflect.get(page, name)
      if (Array.isArray(list)) lists.set(name, [...(lists.get(name) ?? []), ...(list as unknown[])])
    }
    last = page
  }
  if (!last) throw new ExchangeError('exchange_answer_unreadable', { what: 'There is no evidence.' })
  const whole = [...lists].map(([name, list]) => [name, distinct(list)])
  return { ...last, ...(Object.fromEntries(whole) as Partial<P>) }
}

export function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [canonicalize(item), item])).values()]
}
