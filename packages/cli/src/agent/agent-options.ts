import { Command, Option } from 'commander'
import { applyExchange } from './exchange-choice.ts'
import { AGENT_VARIABLES, DEFAULT_DIR } from './client-variables.ts'

/** Options of every agent command. Missing ones come from the agent's folder. */
export interface AgentOptions {
  readonly dir: string
  readonly url?: string
  readonly client?: string
  readonly passphraseFile?: string
  readonly ca?: string
  readonly json?: boolean
  /** Filled in before the command runs; see exchange-choice.ts. */
  readonly exchange?: string
}

export const folderOption = () =>
  new Option('--dir <folder>', 'folder of the agent').default(DEFAULT_DIR).env('AEX_AGENT_DIR')

export const urlOption = (meaning = 'address of the exchange (default: that of the folder)') =>
  new Option('--url <base-url>', meaning).env('AEX_URL')

const clientOption = () =>
  new Option('--client <client_id>', 'client id from the operator (default: that of the folder)').env(
    'AEX_CLIENT_ID',
  )

export const passphraseOption = () =>
  new Option('--passphrase-file <file>', 'file with the passphrase of the keys (or AEX_AGENT_PASSPHRASE)')

export const caOption = () =>
  new Option('--ca <file>', 'PEM file with the certificate authority of the exchange').env('AEX_CA')

const exchangeOption = () =>
  new Option(
    '--exchange <name>',
    'name of an exchange in the config file (AEX_CONFIG) that supplies missing options',
  ).env('AEX_EXCHANGE')

/** A command that needs only the agent's folder. */
export function folderCommandOf(name: string, summary: string, ...examples: string[]): Command {
  return new Command(name)
    .description(summary)
    .addOption(folderOption())
    .addOption(exchangeOption())
    .hook('preAction', applyExchange)
    .option('--json', 'print one JSON document')
    .showHelpAfterError('Run with --help to see how it is used.')
    .addHelpText(
      'after',
      examples.length === 0
        ? ''
        : ['', 'Examples:', ...examples.map((example) => `  $ aex agent ${example}`)].join('\n'),
    )
    .addHelpText('after', ({ command }) => variablesOf(command))
}

/** A command that calls the exchange as an agent. */
export function agentCommandOf(name: string, summary: string, ...examples: string[]): Command {
  return folderCommandOf(name, summary, ...examples)
    .addOption(urlOption())
    .addOption(clientOption())
    .addOption(passphraseOption())
    .addOption(caOption())
}

/** Environment variables for options that are missing. */
function variablesOf({ options }: Command): string {
  const given = AGENT_VARIABLES.filter(({ option }) => options.some(({ long }) => long === option))
  return [
    '',
    'Variables for missing options:',
    ...given.map(({ name, option }) => `  ${name.padEnd(22)}${option}`),
  ].join('\n')
}
