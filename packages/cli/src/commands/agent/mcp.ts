import { join } from 'node:path'
import type { CallReport, McpSession } from '@agent-exchange/mcp'
import { Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { interruption } from '../../agent/interruption.ts'
import { folderStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { DEFAULT_SKILL, DEFAULT_SKILL_TEXT, readSkill, type Skill } from '../../agent/skill-option.ts'
import { CommandFailure } from '../../failure.ts'
import { readLogPolicy } from '../../verify/read-log-policy.ts'
import { VERSION } from '../../version.ts'
import { visibleJson } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'

const TOKEN_FILE = 'mcp-token'
const POLICY_FOLDER = 'policies'

const now = () => new Date()

interface McpOptions extends AgentOptions {
  readonly http?: number
  readonly skill: Skill
  readonly policies?: string
  readonly logPolicy?: string
}

export function agentMcpCommand(): Command {
  return agentCommandOf(
    'mcp',
    'Serve the agent to a language model by the Model Context Protocol',
    'mcp --dir ./planner                 (a client starts it and speaks over standard input and output)',
    'mcp --dir ./planner --http 8700     (clients connect to http://127.0.0.1:8700/mcp)',
  )
    .addOption(
      new Option('--http <port>', 'listen on the loopback address instead; 0 takes a free port').argParser(
        wholeNumber(0, 65_535, 'a port'),
      ),
    )
    .option(
      '--policies <folder>',
      `policies that the model may send under (default: ${POLICY_FOLDER} in the folder of the agent)`,
    )
    .addOption(
      new Option('--skill <id@version>', 'skill that drafts are written with')
        .argParser(readSkill)
        .default(DEFAULT_SKILL, DEFAULT_SKILL_TEXT),
    )
    .option('--log-policy <file>', 'log keys and witnesses that verify_capsule trusts')
    .addHelpText(
      'after',
      '\nThe model sends what a policy allows. What needs a person waits for `aex agent desk`.\nOver HTTP, clients pass the token in the file mcp-token of the folder.',
    )
    .action(mcp)
}

async function mcp(options: McpOptions): Promise<void> {
  const { dir, http, skill, policies = join(dir, POLICY_FOLDER) } = options
  const logPolicy = await readLogPolicy(options.logPolicy)
  // Loaded on demand: the library is large, and only this command needs it.
  const { accessToken, folderMcpAgent, serveHttp, serveStandardStreams } = await import('@agent-exchange/mcp')
  await withAgent({ ...options, lazily: true, unattended: true }, async (agent) => {
    const session: McpSession = {
      agent: folderMcpAgent(agent, { policies, now }),
      version: VERSION,
      skill,
      deskCommand: folderStep(options, 'desk'),
      approverCommand: folderStep(options, 'approver', 'init'),
      now,
      onCall,
      ...(logPolicy && { logPolicy }),
    }
    const stopped = interruption()
    if (http === undefined) {
      await using server = serveStandardStreams(session)
      await Promise.race([server.closed, stopped])
      return
    }
    const file = join(dir, TOKEN_FILE)
    const token = await accessToken(file).catch((error: Error) => {
      throw new CommandFailure(error.message)
    })
    await using server = await serveHttp(session, { port: http, token }).catch(() => {
      throw new CommandFailure(`Port ${http} cannot be used. Choose another with --http.`)
    })
    if (options.json) console.log(visibleJson({ url: server.url, token_file: file }))
    console.error(`Serving MCP at ${server.url}. The bearer token is in ${file}. Ctrl-C ends it.`)
    await stopped
  })
}

/** Printed to standard error: standard output belongs to the protocol. Contains no argument and no result. */
function onCall({ tool, outcome, code, milliseconds }: CallReport): void {
  console.error(`${tool}: ${outcome}${code === undefined ? '' : ` (${code})`}, ${milliseconds} ms`)
}
