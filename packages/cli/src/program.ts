import { Command } from 'commander'
import { agentCommand } from './commands/agent/index.ts'
import { backupCommand } from './commands/backup.ts'
import { configCommand } from './commands/config.ts'
import { demoCommand } from './commands/demo.ts'
import { newCommand } from './commands/new.ts'
import { openApiCommand } from './commands/openapi.ts'
import { operatorCommands } from './commands/operator/index.ts'
import { profileCommand } from './commands/profile.ts'
import { restoreCommand } from './commands/restore.ts'
import { serveCommand } from './commands/serve.ts'
import { validateCommand } from './commands/validate.ts'

/** `aex`. Each command is one file that makes one Command. */
export function program(): Command {
  const aex = new Command('aex')
    .description(
      'Agent Exchange: sealed, signed reasoning packages between the agents of different companies',
    )
    .version('0.1.0')
    .showHelpAfterError('Run with --help to see how it is used.')
  for (const command of [
    serveCommand(),
    configCommand(),
    backupCommand(),
    restoreCommand(),
    newCommand(),
    validateCommand(),
    openApiCommand(),
    profileCommand(),
    agentCommand(),
    demoCommand(),
    ...operatorCommands(),
  ]) {
    aex.addCommand(command.copyInheritedSettings(aex))
  }
  return aex
}
