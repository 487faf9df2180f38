import { GATEWAY_VARIABLES, readGatewayConfig, runGateway } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { unknownGatewayVariables } from '../../agent/client-variables.ts'
import { interruption } from '../../agent/interruption.ts'
import { createAnnouncements } from '../../announce.ts'
import { aexStep } from '../../next-step.ts'
import { gatewayFailure } from './gateway-failure.ts'
import { visibleJson } from '../../visible.ts'
import { gatewayAgentCommand } from './agents.ts'
import { gatewayEventCommand } from './events.ts'
import { gatewayHoldCommand } from './holds.ts'
import { gatewayKeyCommand } from './keys.ts'
import { gatewayMasterKeyCommand } from './master-key.ts'
import { gatewayMigrateCommand } from './migrate.ts'
import { gatewayNameCommand } from './names.ts'
import { withGateway } from './opened-gateway.ts'
import { gatewayPersonCommand } from './people.ts'
import { gatewayPolicyCommand } from './policies.ts'
import { gatewayPushCommand } from './push.ts'
import { gatewayDelegationCommand } from './delegations.ts'
import { gatewayRecordCommand } from './record.ts'
import { gatewayRuleCommand } from './rules.ts'
import { gatewayStatusCommand } from './status.ts'
import { gatewaySystemCommand } from './systems.ts'

const EXAMPLES = `
Settings are environment variables: see docs/gateway.md.

Examples:
  $ aex gateway init                                     data in ./gateway
  $ aex gateway agent add INVITATION --agent agent_planner
  $ aex gateway policy add policy.json --agent agent_planner
  $ aex gateway system add erp --agent agent_planner --may read,draft,send,inbox
  $ aex gateway person add "Ida Berg" --role planner
  $ aex gateway serve
  $ AEX_GATEWAY_DATABASE_URL=postgres://… AEX_GATEWAY_MASTER_KEY_FILE=key aex gateway serve`

export function gatewayCommand(): Command {
  const init = new Command('init')
    .description('Make the database and the master key of a gateway')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  $ AEX_GATEWAY_DATA_DIR=/srv/gateway aex gateway init')
    .action(initialize)
  const serve = new Command('serve')
    .description('Run one instance of the gateway until it is stopped (SIGTERM, Ctrl-C)')
    .option('--json', 'print messages as JSON lines on a terminal too')
    .addHelpText('after', '\nExamples:\n  $ aex gateway serve')
    .action(run)
  return new Command('gateway')
    .description("Run a company's agents in production: several agents and instances, PostgreSQL")
    .addHelpText('after', EXAMPLES)
    .addCommand(init)
    .addCommand(serve)
    .addCommand(gatewayStatusCommand())
    .addCommand(gatewayAgentCommand())
    .addCommand(gatewayKeyCommand())
    .addCommand(gatewayEventCommand())
    .addCommand(gatewayMasterKeyCommand())
    .addCommand(gatewayMigrateCommand())
    .addCommand(gatewayPolicyCommand())
    .addCommand(gatewaySystemCommand())
    .addCommand(gatewayPushCommand())
    .addCommand(gatewayHoldCommand())
    .addCommand(gatewayNameCommand())
    .addCommand(gatewayPersonCommand())
    .addCommand(gatewayRuleCommand())
    .addCommand(gatewayDelegationCommand())
    .addCommand(gatewayRecordCommand())
}

async function initialize({ json }: { json?: boolean }): Promise<void> {
  const made = await withGateway(
    async ({ config, migrated }) => ({
      data_folder: config.dataDirectory,
      database: config.databaseUrl === undefined ? 'embedded PostgreSQL' : 'AEX_GATEWAY_DATABASE_URL',
      applied: 'applied' in migrated ? migrated.applied : [],
    }),
    { create: true },
  )
  if (json) return console.log(visibleJson(made))
  console.log(`The gateway is ready to run.`)
  console.log(`  data folder  ${made.data_folder}`)
  console.log(`  database     ${made.database}`)
  console.log(`  add agents   ${aexStep('gateway', 'agent', 'add')} INVITATION`)
  console.log(`  run it       ${aexStep('gateway', 'serve')}`)
}

async function run({ json = false }: { json?: boolean }): Promise<void> {
  const announcements = createAnnouncements({ json })
  const stopping = interruption()
  const known = GATEWAY_VARIABLES.map(({ name }) => name)
  for (const sentence of unknownGatewayVariables(process.env, known)) announcements.say(sentence)
  try {
    const gateway = await runGateway(readGatewayConfig(process.env), { progress: announcements.progress })
    const { api, admin, webhooks } = gateway.urls
    const lines = [
      'The gateway is running.',
      `  API        ${api}/api/v1   (${api}/openapi.json)`,
      `  ready      ${admin}/readyz`,
      `  webhooks   ${webhooks}/agents/AGENT_ID`,
      `  agents     ${gateway.agents.list().length}`,
    ]
    announcements.say('The gateway is running.', { lines, facts: gateway.urls })
    const failure = await Promise.race([stopping.then(() => undefined), gateway.failed])
    await gateway[Symbol.asyncDispose]()
    if (failure) throw failure
    announcements.say('Stopped')
  } catch (error) {
    announcements.fail(gatewayFailure(error).message)
    process.exitCode = 1
  }
}
