import type { PackageResource, PackageState } from '@agent-exchange/protocol'
import type { Command } from 'commander'
import { threadStory, type Agent } from '@agent-exchange/sdk'
import {
  hasNextPage,
  MAXIMUM_SHOWN_PAGES,
  readThreadObjects,
  storyText,
  uncheckedSentence,
  watchLog,
} from '@agent-exchange/sdk/internal'
import { readAddressBook } from '@agent-exchange/sdk/internal/node'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { isForPeople } from '../../agent/for-people.ts'
import { nextStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visible, visibleJson } from '../../visible.ts'
import { wrapWords } from '../../wrap-text.ts'

export function agentThreadCommand(): Command {
  return agentCommandOf(
    'thread',
    'Show the packages of a thread and their states',
    'thread thread_1             (for people on a terminal, JSON elsewhere)',
    'thread thread_1 --story     (what is agreed, disputed, decided and open)',
    'thread thread_1 --json',
  )
    .argument('<thread_id>', 'the thread')
    .option('--story', 'print what is agreed, disputed, decided and open; with --json as data')
    .action(async (threadId: string, options: ThreadOptions) => {
      if (options.story) return tell(threadId, options)
      const shown = await withAgent(options, async (agent) => {
        const { unchecked } = await watchLog(agent.context)
        if (unchecked) console.error(`  warning: ${visible(uncheckedSentence(unchecked))}`)
        return listThread(agent, threadId)
      })
      console.log(isForPeople(options) ? threadText(shown, options) : visibleJson(shown))
    })
}

interface ThreadOptions extends AgentOptions {
  readonly story?: boolean
}

/** The packages of a thread, oldest first, on at most MAXIMUM_SHOWN_PAGES. */
export async function listThread(agent: Pick<Agent, 'thread'>, threadId: string): Promise<ListedThread> {
  const packages: PackageResource[] = []
  let mode = ''
  let truncated = false
  for await (const page of agent.thread(threadId, { maximumPages: MAXIMUM_SHOWN_PAGES })) {
    packages.push(...page.packages)
    mode = page.transport_mode
    truncated = hasNextPage(page)
  }
  return { thread_id: threadId, transport_mode: mode, packages, truncated }
}

/** Packages that were opened before are read again; no receipt is sent. */
async function tell(threadId: string, options: ThreadOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    const { unchecked } = await watchLog(agent.context)
    if (unchecked) console.error(`  warning: ${visible(uncheckedSentence(unchecked))}`)
    const story = threadStory(await readThreadObjects(agent, threadId), new Date())
    const names = await readAddressBook(agent.folder.files.settings)
    console.log(options.json ? visibleJson(snakeCased(story, ['value'])) : storyText(story, { names }))
  })
}

/** What became of a package, in the words of a person. `--json` prints the state itself. */
const STATE_TEXTS: Readonly<Record<PackageState, string>> = {
  accepted: 'accepted by the exchange',
  encrypted_available: 'waits for its recipient',
  transfer_started: 'in transfer to its recipient',
  delivered: 'fetched by its recipient',
  received: 'received',
  opened: 'opened',
  responded: 'answered',
  revoked: 'revoked',
}

interface ListedThread {
  readonly thread_id: string
  readonly transport_mode: string
  readonly packages: readonly PackageResource[]
  /** Whether the thread has newer packages that are not listed. */
  readonly truncated: boolean
}

/** Who wrote to whom, when, and what became of it, oldest first; ids at the end of each entry. */
export function threadText(
  { thread_id, transport_mode, packages, truncated }: ListedThread,
  options: AgentOptions,
): string {
  const numbers = new Map(packages.map(({ package_id }, index) => [package_id, index + 1]))
  const entries = packages.flatMap(({ package_id, state, created_at, metadata }, index) => {
    const about = metadata.responds_to_package_id
    const answered = about === undefined ? undefined : numbers.get(about)
    const kind = about === undefined ? 'Package' : `Answer to ${answered ?? about}`
    return [
      '',
      ...lines(`${index + 1}. ${kind}, ${STATE_TEXTS[state]}`, ''),
      ...lines(`${metadata.sender_agent_id} of ${metadata.sender_org_id}`, '   from  '),
      ...lines(`${metadata.recipient_agent_id} of ${metadata.recipient_org_id}`, '   to    '),
      ...lines(created_at, '   at    '),
      ...lines(package_id, '   id    '),
    ]
  })
  const last = packages.at(-1)?.package_id
  return [
    ...lines(`Thread ${thread_id}, ${transport_mode}, oldest package first`, ''),
    ...entries,
    ...(truncated
      ? ['', ...lines(`Only the first ${packages.length} packages: newer ones are not listed.`, '')]
      : []),
    ...(last === undefined ? [] : ['', `  open one  ${nextStep(options, 'open', last)}`]),
    `  evidence  ${nextStep(options, 'evidence', thread_id)}`,
  ].join('\n')
}

function lines(text: string, indent: string): string[] {
  return wrapWords(visible(text).split(' '), { indent, hanging: ' '.repeat(indent.length) })
}
