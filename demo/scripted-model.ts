import { fileURLToPath } from 'node:url'
import { startToolClient } from '@agent-exchange/mcp'
import { CommandFailure } from '../packages/cli/src/failure.ts'

const AEX = fileURLToPath(new URL('../packages/cli/bin/aex.js', import.meta.url))

/** Plays a language model: calls tools of `aex agent mcp`, which runs in a process of its own. */
export interface ScriptedModel extends AsyncDisposable {
  /** Calls that were made. */
  readonly calls: () => number
  /** The structured result of a call that must succeed. */
  result<T>(tool: string, args?: object): Promise<T>
  /** The text of a call that must be refused. */
  refusal(tool: string, args: object): Promise<string>
}

export async function startScriptedModel(folder: string): Promise<ScriptedModel> {
  const client = await startToolClient({
    command: process.execPath,
    args: [AEX, 'agent', 'mcp', '--dir', folder],
    env: withoutSettings(process.env),
  })
  let calls = 0
  const call = async (tool: string, args: object) => {
    calls += 1
    const { content, isError = false, structuredContent } = await client.callTool(tool, args)
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    return { isError, text, structured: structuredContent }
  }
  return {
    calls: () => calls,
    async result<T>(tool: string, args: object = {}) {
      const { isError, text, structured } = await call(tool, args)
      if (isError) throw new CommandFailure(`The tool ${tool} failed: ${text}`)
      return structured as T
    },
    async refusal(tool, args) {
      const { isError, text } = await call(tool, args)
      if (!isError) throw new CommandFailure(`The tool ${tool} should have been refused.`)
      return text
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/** Settings of the user's own agent do not apply to those of the demo. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AEX_')))
}
