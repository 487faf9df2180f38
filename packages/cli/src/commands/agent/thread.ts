import type { PackageResource, PackageState } from '@agent-exchange/protocol'
import type { Command } from 'commander'
import { threadStory } from '@agent-exchange/sdk'
import { readThreadObjects, storyText, uncheckedSentence, watchLog } from '@agent-exchange/sdk/internal'
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
      const packages: PackageResource[] = []
      let mode = ''
      await withAgent(options, async (agent) => {
        const { unchecked } = await watchLog(agent.context)
        if (unchecked) console.error(`  warning: ${visible(uncheckedSentence(unchecked))}`)
        for await (const page of agent.thread(threadId)) {
          packages.push(...page.packages)
          mode = page.transport_mode
        }
      })
      const shown = { thread_id: threadId, transport_mode: mode, packages }
      console.log(isForPeople(options) ? forPeople(shown, options) : visibleJson(shown))
    })
}

interface ThreadOptions extends AgentOptions {
  readonly story?: boolean
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

interface Shown {
  readonly thread_id: string
  readonly transport_mode: string
  readonly packages: readonly PackageResource[]
}

/** Who wrote to whom, when, and what became of it, oldest first; ids at the end of each entry. */
function forPeople({ thread_id, transport_mode, packages }: Shown, options: AgentOptions): string {
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
    ...(last === undefined ? [] : ['', `  open one  ${nextStep(options, 'open', last)}`]),
    `  evidence  ${nextStep(options, 'evidence', thread_id)}`,
  ].join('\n')
}

function lines(text: string, indent: string): string[] {
  return wrapWords(visible(text).split(' '), { indent, hanging: ' '.repeat(indent.length) })
}
