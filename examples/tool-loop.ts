/**
 * A language model that answers packages with tools. The model here is scripted; replace `scriptedModel` by a call of
 * yours. The package of the other company reaches the model as data, never as instructions, and the model can do
 * nothing but call the tools below.
 *
 *     aex agent defaults --allow org_cars
 *     node examples/tool-loop.ts
 */

import { once } from 'node:events'
import type { ReceivedPackage } from '@agent-exchange/sdk'
import { connectFolder } from '@agent-exchange/sdk/node'

type Message = { readonly role: 'task' | 'untrusted' | 'tool'; readonly text: string }
type ToolCall = { readonly tool: string; readonly input: string }
type Model = (messages: readonly Message[]) => Promise<ToolCall>

const MOST_STEPS = 8
const CAPACITY: Readonly<Record<string, number>> = { 'week 12': 400, 'week 13': 900 }

const scriptedModel: Model = async (messages) => {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return { tool: 'read_capacity', input: 'week 13' }
  return { tool: 'reply', input: `We can deliver ${last.text} rails in week 13.` }
}

/** The tools of the model. `reply` and `decline` end the loop. */
function toolsFor({ reply, decline }: ReceivedPackage) {
  return {
    read_capacity: async (week: string) => String(CAPACITY[week] ?? 'unknown'),
    reply: async (text: string) => void (await reply({ summary: text, actions: ['provide_option'] })),
    decline: async (text: string) => void (await decline(text)),
  }
}

async function answer(model: Model, received: ReceivedPackage): Promise<void> {
  const tools: Readonly<Record<string, (input: string) => Promise<string | void>>> = toolsFor(received)
  const messages: Message[] = [
    { role: 'task', text: 'Answer the package of the supplier with the tools.' },
    { role: 'untrusted', text: JSON.stringify(received.object) },
  ]
  for (let step = 0; step < MOST_STEPS; step++) {
    const { tool, input } = await model(messages)
    console.log(`${tool}(${JSON.stringify(input)})`)
    const run = Object.hasOwn(tools, tool) ? tools[tool] : undefined
    const result = run ? await run(input) : 'There is no such tool.'
    if (result === undefined) return
    messages.push({ role: 'tool', text: result })
  }
  await received.decline('No answer was found in time.')
}

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')
await agent.resume()
await using receiver = agent.onPackage(
  async (received) => {
    if (received.object.object_type === 'reasoning_package') await answer(scriptedModel, received)
  },
  { onReport: (report) => console.error(report), limits: { pollMs: 5_000 } },
)
await receiver.start()
console.log('Answering packages. Ctrl-C ends it.')
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
