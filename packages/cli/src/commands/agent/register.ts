import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { setExchangeAccess } from '@agent-exchange/sdk/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { readConnector } from '../../agent/connector-settings.ts'
import { LOCAL_EXCHANGE } from '../../agent/client-variables.ts'
import { nextStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { skillsOption, type SkillVersions } from '../../agent/skill-option.ts'
import { visibleJson } from '../../visible.ts'

interface RegisterOptions extends AgentOptions {
  readonly skill: SkillVersions
}

export function agentRegisterCommand(): Command {
  return agentCommandOf(
    'register',
    'Register the agent with its public keys, and remember the exchange in its folder',
    'register --client CLIENT_ID',
    'register --client CLIENT_ID --url https://exchange.example --skill skill_alignment@1.0.0',
  )
    .addOption(skillsOption())
    .addHelpText('after', '\nAn agent with a connector (aex agent connector set) also accepts ds_x.')
    .action(register)
}

async function register(options: RegisterOptions): Promise<void> {
  const known = await explained(options, () => openAgentFolder(options.dir))
  const url = options.url ?? known.baseUrl ?? LOCAL_EXCHANGE
  const hasConnector = (await readConnector(known)) !== undefined
  await withAgent({ ...options, url }, async (agent) => {
    const resource = await agent.register({
      implementation: 'aex',
      implementationVersion: '0.1.0',
      skillVersions: options.skill,
      transportModes: hasConnector ? ['native', 'ds_x'] : ['native'],
    })
    const clientId = options.client ?? known.clientId
    await setExchangeAccess(options.dir, { baseUrl: url, ...(clientId !== undefined && { clientId }) })
    if (options.json) return console.log(visibleJson(resource))
    console.log(`${resource.agent_id} of ${resource.organization_id} is registered`)
    console.log(`  fingerprint  ${await agent.fingerprint()}`)
    const { url: _, client: __, ...remembered } = options
    console.log(`  look         ${nextStep(remembered, 'doctor')}`)
  })
}
