import { openAgentFolder, setExchangeAccess } from '@agent-exchange/sdk/node'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'

const LOCAL_EXCHANGE = 'http://127.0.0.1:8080'

interface RegisterOptions extends AgentOptions {
  readonly skill: Readonly<Record<string, string>>
  readonly dsX?: boolean
}

export function agentRegisterCommand(): Command {
  return agentCommandOf(
    'register',
    'Register the agent with its public keys, and remember the exchange in its folder',
    'register --client CLIENT_ID',
    'register --client CLIENT_ID --url https://exchange.example --skill skill_alignment@1.0.0',
  )
    .addOption(
      new Option('--skill <id@version>', 'a skill that the agent has; may be repeated')
        .argParser(collectSkill)
        .default({ skill_alignment: '1.0.0' }, 'skill_alignment@1.0.0'),
    )
    .option('--ds-x', 'the agent also takes packages through a data-space connector')
    .action(register)
}

async function register(options: RegisterOptions): Promise<void> {
  const known = await explained(() => openAgentFolder(options.dir))
  const url = options.url ?? known.baseUrl ?? LOCAL_EXCHANGE
  await withAgent({ ...options, url }, async (agent) => {
    const resource = await agent.register({
      implementation: 'aex',
      implementationVersion: '0.1.0',
      skillVersions: options.skill,
      transportModes: options.dsX ? ['native', 'ds_x'] : ['native'],
    })
    const clientId = options.client ?? known.clientId
    await setExchangeAccess(options.dir, { baseUrl: url, ...(clientId !== undefined && { clientId }) })
    if (options.json) return console.log(JSON.stringify(resource, undefined, 2))
    console.log(`${resource.agent_id} of ${resource.organization_id} is registered`)
    console.log(`  fingerprint  ${await agent.fingerprint()}`)
  })
}

function collectSkill(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [, id, version] = /^([^@]+)@([^@]+)$/u.exec(text) ?? []
  if (id === undefined || version === undefined)
    throw new InvalidArgumentError('Write it as id@version, such as skill_alignment@1.0.0.')
  return { ...before, [id]: version }
}
