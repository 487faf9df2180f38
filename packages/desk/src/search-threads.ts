import { dateOfInstant } from '@agent-exchange/protocol'
import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'
import type { ThreadSummary } from './desk-agent.ts'
import type { DeskCall } from './desk-call.ts'
import { SEARCH_WAIT_MS, SEARCHED_THREADS, SHOWN_SENT_DRAFTS } from './desk-limits.ts'
import type { ReadStory } from './story-reader.ts'

/** States of a conversation that a person can ask for. */
export const SEARCH_STATES = [
  'due_from_us',
  'due_from_others',
  'disputed',
  'decided',
  'agreed',
  'open',
] as const
export type SearchState = (typeof SEARCH_STATES)[number]

export interface SearchQuery {
  /** Part of the id or of the given name of another company. */
  readonly company: string
  /** Part of the id of an agent, or of the name of whoever approved a package. */
  readonly person: string
  readonly state?: SearchState
  /** An answer is due on this day or before. */
  readonly dueBy?: string
  /** Part of any text of a package. */
  readonly text: string
}

export interface SearchResult {
  readonly found: readonly { readonly summary: ThreadSummary; readonly story: ThreadStory }[]
  readonly searched: { readonly threads: number; readonly packages: number; readonly known: number }
}

const READ_AT_ONCE = 4
const DAY_LENGTH = 'YYYY-MM-DD'.length

/**
 * Reads the newest conversations, opens what this agent may read in memory, and compares. There is no index: content
 * stays encrypted where it is stored. Ends at the time limit with what was read until then.
 */
export async function searchThreads(call: DeskCall, query: SearchQuery): Promise<SearchResult> {
  const { agent } = call
  const [known, names, approvers] = await Promise.all([
    agent.threads(SEARCHED_THREADS),
    agent.names(),
    query.person === '' ? new Map<string, string[]>() : approversByThread(call),
  ])
  const nameOf = (id: string) => (Object.hasOwn(names, id) ? (names[id] ?? '') : '')
  const found: SearchResult['found'][number][] = []
  let threads = 0
  let packages = 0
  const end = performance.now() + SEARCH_WAIT_MS
  for (let at = 0; at < known.length && performance.now() < end; at += READ_AT_ONCE) {
    const some = known.slice(at, at + READ_AT_ONCE)
    const read = await Promise.all(
      some.map(async (summary) => ({ summary, read: await readOf(call, summary) })),
    )
    for (const each of read) {
      if (!each.read) continue
      threads += 1
      packages += each.read.thread.packages.length
      const people = approvers.get(each.summary.threadId) ?? []
      if (matches(each.read, query, { nameOf, people }))
        found.push({ summary: each.summary, story: each.read.story })
    }
  }
  return { found, searched: { threads, packages, known: known.length } }
}

function readOf({ stories, now }: DeskCall, { threadId }: ThreadSummary): Promise<ReadStory | undefined> {
  return stories.read(threadId, now).catch((error: unknown) => {
    if (error instanceof ExchangeError) return undefined
    throw error
  })
}

export function matches(
  { story, thread }: Pick<ReadStory, 'story' | 'thread'>,
  { company, person, state, dueBy, text }: SearchQuery,
  { nameOf, people }: { readonly nameOf: (id: string) => string; readonly people: readonly string[] },
): boolean {
  const agents = story.companies.flatMap((each) => each.agents)
  const others = story.companies.filter(({ isReader }) => !isReader).map((each) => each.organizationId)
  return (
    (company === '' || others.some((id) => includes(id, company) || includes(nameOf(id), company))) &&
    (person === '' || [...agents, ...people].some((each) => includes(each, person))) &&
    (state === undefined || IN_STATE[state](story)) &&
    (dueBy === undefined || story.due.some(({ deadline }) => dayOf(deadline.at) <= dueBy)) &&
    (text === '' ||
      thread.packages.some(({ content }) => 'object' in content && hasText(content.object, text)))
  )
}

const IN_STATE: Readonly<Record<SearchState, (story: ThreadStory) => boolean>> = {
  due_from_us: ({ due }) => due.some(({ isReaders }) => isReaders),
  due_from_others: ({ due }) => due.some(({ isReaders }) => !isReaders),
  disputed: ({ disputed }) => disputed.length > 0,
  decided: ({ decided }) => decided.length > 0,
  agreed: ({ agreed }) => agreed.length > 0,
  open: ({ open }) => open.length > 0,
}

/** In UTC: a deadline may have an offset. */
function dayOf(instant: string): string {
  return (dateOfInstant(instant)?.toISOString() ?? instant).slice(0, DAY_LENGTH)
}

function hasText(value: unknown, text: string): boolean {
  if (typeof value === 'string') return includes(value, text)
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((each) => hasText(each, text))
  )
}

function includes(text: string, part: string): boolean {
  return text.toLocaleLowerCase('en').includes(part.toLocaleLowerCase('en'))
}

/** Whoever decided about drafts of a thread; names never leave the company. */
async function approversByThread({ agent }: DeskCall): Promise<Map<string, string[]>> {
  const drafts = [...(await agent.drafts.list()), ...(await agent.drafts.sent(SHOWN_SENT_DRAFTS))]
  const names = new Map<string, string[]>()
  for (const { threadId, decision } of drafts)
    if (decision) names.set(threadId, [...(names.get(threadId) ?? []), decision.name])
  return names
}
