import { isInstalled, SERVICE } from '../optional-packages.ts'

export const DEFAULT_DIR = './aex-agent'

/** Where `npm start` serves the agent API. */
export const LOCAL_EXCHANGE = 'http://127.0.0.1:8080'

/** An environment variable of the command line's user, not of the service. */
export interface ClientVariable {
  readonly name: string
  /** The option that it replaces. */
  readonly option: string
  readonly meaning: string
  readonly default: string
}

export const AGENT_VARIABLES: readonly ClientVariable[] = [
  { name: 'AEX_AGENT_DIR', option: '--dir', meaning: 'folder of the agent', default: DEFAULT_DIR },
  { name: 'AEX_URL', option: '--url', meaning: 'address of the exchange', default: 'that of the folder' },
  {
    name: 'AEX_CLIENT_ID',
    option: '--client',
    meaning: 'client id from the operator',
    default: 'that of the folder',
  },
  {
    name: 'AEX_AGENT_PASSPHRASE',
    option: '--passphrase-file',
    meaning: 'passphrase of the keys',
    default: 'none: the keys are not encrypted',
  },
  {
    name: 'AEX_CA',
    option: '--ca',
    meaning: 'PEM file with the certificate authority of the exchange',
    default: 'the certificate authorities of Node',
  },
  {
    name: 'AEX_EXCHANGE',
    option: '--exchange',
    meaning: 'name of an exchange in the config file',
    default: 'none',
  },
]

/** Not tied to an option. */
export const CONFIG_VARIABLE: ClientVariable = {
  name: 'AEX_CONFIG',
  option: '',
  meaning: 'config file with the exchanges for --exchange',
  default: '~/.config/aex/config.json',
}

/** Variables of operator commands; the service reads some of them too. */
export const OPERATOR_VARIABLES: readonly ClientVariable[] = [
  {
    name: 'AEX_OPERATOR_URL',
    option: '',
    meaning: 'address of the operator API',
    default: 'from AEX_OPERATOR_HOST, AEX_OPERATOR_PORT and AEX_TLS_CERT: http://127.0.0.1:8081',
  },
  {
    name: 'AEX_OPERATOR_TOKEN',
    option: '',
    meaning: 'token of an operator',
    default: 'the file operator-token in AEX_DATA_DIR',
  },
  {
    name: 'AEX_CONNECTOR_API_KEY',
    option: '--api-key-file',
    meaning: 'key of the management API, for "aex connector doctor" and "aex agent connector set"',
    default: 'none',
  },
]

const CLIENT_NAMES = [...AGENT_VARIABLES, CONFIG_VARIABLE, ...OPERATOR_VARIABLES].map(({ name }) => name)

/** The gateway has variables of its own. */
const OF_GATEWAY = 'AEX_GATEWAY_'

/** One sentence for each variable that looks like ours and is unknown: a misspelt name has no effect. */
export async function unknownVariables(env: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const strange = Object.keys(env).filter(
    (name) => name.startsWith('AEX_') && !name.startsWith(OF_GATEWAY) && !CLIENT_NAMES.includes(name),
  )
  if (strange.length === 0) return []
  const ofService = await serviceNames()
  const known = [...CLIENT_NAMES, ...(ofService ?? [])]
  // Without the service its variables are unknown here, so only a likely slip is worth a warning.
  return misspelt(strange, known)
    .filter(({ near }) => ofService !== undefined || near !== undefined)
    .map(sentenceOf)
}

/** The same for the variables of the gateway. */
export function unknownGatewayVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const strange = Object.keys(env).filter((name) => name.startsWith(OF_GATEWAY))
  return misspelt(strange, known).map(sentenceOf)
}

interface Misspelt {
  readonly name: string
  readonly near: string | undefined
}

function misspelt(strange: readonly string[], known: readonly string[]): Misspelt[] {
  return strange
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, near: known.find((other) => distance(name, other) <= LARGEST_SLIP) }))
    .toSorted((left, right) => left.name.localeCompare(right.name))
}

const sentenceOf = ({ name, near }: Misspelt) =>
  `${name} is not a variable of aex and has no effect.${near === undefined ? '' : ` Did you mean ${near}?`}`

/** Variables of the service; undefined if it is not installed. Loaded only when a name has to be looked up. */
async function serviceNames(): Promise<string[] | undefined> {
  if (!isInstalled(SERVICE)) return undefined
  const { describeConfig } = await import('@agent-exchange/service/config')
  return describeConfig({}).map(({ name }) => name)
}

const LARGEST_SLIP = 2

/** Levenshtein distance: letters to add, remove or replace. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [at, letter] of left.split('').entries()) {
    const next = [at + 1]
    for (const [index, other] of right.split('').entries()) {
      const [above = 0, diagonal = 0, beside = 0] = [row[index + 1], row[index], next[index]]
      next.push(Math.min(above + 1, beside + 1, diagonal + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
