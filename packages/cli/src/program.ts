import { Command, Help } from 'commander'
import { unknownVariables } from './agent/client-variables.ts'
import { CommandFailure, failureExitCode } from './failure.ts'
import { overview } from './help-overview.ts'
import { GATEWAY, isInstalled, SERVICE, TARBALLS, type OptionalPackage } from './optional-packages.ts'
import { VERSION } from './version.ts'

interface Entry {
  readonly name: string
  readonly summary: string
  /** Loads the module of the command. Only the called command is loaded, which keeps the start fast. */
  readonly load: () => Promise<Command>
  /** The module imports this optional peer dependency. */
  readonly needs?: OptionalPackage
}

const entry = (name: string, summary: string, load: Entry['load']): Entry => ({ name, summary, load })
const serviceEntry = (...given: Parameters<typeof entry>): Entry => ({
  ...entry(...given),
  needs: SERVICE,
})

const COMMANDS: readonly Entry[] = [
  serviceEntry('serve', 'Run the exchange until it is stopped (SIGTERM, Ctrl-C)', async () =>
    (await import('./commands/serve.ts')).serveCommand(),
  ),
  serviceEntry(
    'config',
    'Show every setting of the service: name, meaning, default, effective value',
    async () => (await import('./commands/config.ts')).configCommand(),
  ),
  serviceEntry('migrate', 'Migrate the database to this release, or show what that would do', async () =>
    (await import('./commands/migrate.ts')).migrateCommand(),
  ),
  serviceEntry(
    'backup',
    'Back up the embedded database into a new folder, while the service runs',
    async () => (await import('./commands/backup.ts')).backupCommand(),
  ),
  serviceEntry('restore', 'Put a backup into AEX_DATA_DIR', async () =>
    (await import('./commands/restore.ts')).restoreCommand(),
  ),
  serviceEntry('master-key', 'The key that encrypts the private keys of the exchange', async () =>
    (await import('./commands/master-key.ts')).masterKeyCommand(),
  ),
  {
    name: 'gateway',
    summary: "Run a company's agents in production: several agents and instances, PostgreSQL",
    load: async () => (await import('./commands/gateway/index.ts')).gatewayCommand(),
    needs: GATEWAY,
  },
  entry('new', 'Write a new protocol object as a template', async () =>
    (await import('./commands/new.ts')).newCommand(),
  ),
  entry('validate', 'Check protocol objects against their schemas and rules; needs no service', async () =>
    (await import('./commands/validate.ts')).validateCommand(),
  ),
  entry('verify', 'Verify a capsule offline; needs no service, no agent and no network', async () =>
    (await import('./commands/verify.ts')).verifyCommand(),
  ),
  entry('monitor', 'Scan the transparency log for events of your agent that you never saw', async () =>
    (await import('./commands/monitor.ts')).monitorCommand(),
  ),
  entry('witness', 'Cosign the checkpoints of transparency logs of other companies', async () =>
    (await import('./commands/witness.ts')).witnessCommand(),
  ),
  entry('openapi', 'Print the OpenAPI 3.1.1 document of the agent API', async () =>
    (await import('./commands/openapi.ts')).openApiCommand(),
  ),
  entry(
    'profile',
    'Show the deployment profile: our choice on each point that the specification leaves open',
    async () => (await import('./commands/profile.ts')).profileCommand(),
  ),
  entry('agent', 'Create, register and use an agent, or administer agents of the exchange', async () =>
    (await import('./commands/agent/index.ts')).agentCommand(),
  ),
  entry('status', 'Show whether the exchange is healthy, and what needs attention', async () =>
    (await import('./commands/operator/status.ts')).statusCommand(),
  ),
  entry('completion', 'Print a script that completes commands and options in a shell', async () =>
    (await import('./commands/completion.ts')).completionCommand(() => program()),
  ),
  entry('org', 'Organizations of the exchange', async () =>
    (await import('./commands/operator/org.ts')).orgCommand(),
  ),
  entry('invite', 'Invitations to join the exchange', async () =>
    (await import('./commands/operator/invite.ts')).inviteCommand(),
  ),
  entry('client', 'OAuth 2.0 clients of organizations', async () =>
    (await import('./commands/operator/client.ts')).clientCommand(),
  ),
  entry('connector', 'Data-space connectors of organizations', async () =>
    (await import('./commands/operator/connector.ts')).connectorCommand(),
  ),
  entry('skill', 'Skill releases', async () => (await import('./commands/operator/skill.ts')).skillCommand()),
  entry('keys', 'Keys of the exchange: they sign webhooks, tokens and statements', async () =>
    (await import('./commands/operator/keys.ts')).keysCommand(),
  ),
  entry('endpoint', 'Webhook endpoints', async () =>
    (await import('./commands/operator/endpoint.ts')).endpointCommand(),
  ),
  entry('delivery', 'Webhook deliveries', async () =>
    (await import('./commands/operator/delivery.ts')).deliveryCommand(),
  ),
  entry('package', 'Packages of all organizations: where they are, never what they say', async () =>
    (await import('./commands/operator/package.ts')).packageCommand(),
  ),
  entry('thread', 'Threads of packages', async () =>
    (await import('./commands/operator/thread.ts')).threadCommand(),
  ),
  entry(
    'search',
    'Find an object by any id: package, thread, receipt, event, delivery, correlation id, agent, …',
    async () => (await import('./commands/operator/search.ts')).searchCommand(),
  ),
  entry(
    'log',
    'The transparency log: its state and recovery, policies, and the views of two parties',
    async () => (await import('./commands/operator/transparency-log.ts')).transparencyLogCommand(),
  ),
  entry('alert', 'Alerts about webhook endpoints, the transparency log, certificates and keys', async () =>
    (await import('./commands/operator/alert.ts')).alertCommand(),
  ),
  entry('operator', 'Operators of the exchange, and the log of their changes', async () =>
    (await import('./commands/operator/operator.ts')).operatorsCommand(),
  ),
]

const DEMO_MOVED =
  'The demo is no part of aex any more: in a checkout of the repository, run npm run demo (docs/quickstart.md).'

/** `aex` with the command that these arguments call. Without arguments, every command is loaded. */
export async function program(
  args?: readonly string[],
  isThere: (name: OptionalPackage) => boolean = isInstalled,
): Promise<Command> {
  const aex = new Command('aex')
    .version(VERSION)
    .showHelpAfterError('Run with --help to see how it is used.')
    .configureHelp({
      formatHelp: (command, helper) =>
        command.parent ? Help.prototype.formatHelp.call(helper, command, helper) : overview(),
    })
    .hook('preAction', nameUnknownVariables)
  const called = args?.[0] === 'help' ? args[1] : args?.[0]
  if (called === 'demo') throw new CommandFailure(DEMO_MOVED)
  for (const each of COMMANDS) {
    const isWanted = args === undefined || each.name === called
    const command = isWanted ? await loaded(each, isThere) : described(each)
    aex.addCommand(command.copyInheritedSettings(aex))
    const failureCode = failureExitCode([each.name])
    if (failureCode !== 1)
      command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : failureCode))
  }
  return aex
}

const described = ({ name, summary }: Entry) => new Command(name).description(summary)

async function loaded(each: Entry, isThere: (name: OptionalPackage) => boolean): Promise<Command> {
  if (each.needs === undefined || isThere(each.needs)) return each.load()
  const tarballs = TARBALLS[each.needs].map((name) => `FOLDER/agent-exchange-${name}-${VERSION}.tgz`)
  const missing =
    `aex ${each.name} needs the ${each.needs === SERVICE ? 'service' : 'gateway'}. Install it: npm install ${tarballs.join(' ')}, where FOLDER has the tarballs of ` +
    '"npm run pack" (docs/installing.md)'
  return described(each)
    .allowUnknownOption()
    .argument('[arguments...]')
    .addHelpText('after', `\n${missing}`)
    .action(() => {
      throw new CommandFailure(missing)
    })
}

/** Printed to standard error, away from the command's output. `serve` prints it as part of its log. */
async function nameUnknownVariables(_program: Command, called: Command): Promise<void> {
  if (called.name() === 'serve') return
  for (const sentence of await unknownVariables(process.env)) console.error(sentence)
}
