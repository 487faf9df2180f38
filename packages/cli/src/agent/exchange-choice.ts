import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { visible } from '../visible.ts'

const MAXIMUM_BYTES = 1_048_576
const WRITABLE_BY_OTHERS = 0o022
const text = Type.Optional(Type.String({ minLength: 1 }))
const CLOSED = { additionalProperties: false }

/** One exchange of the config file. Paths are relative to the file. */
const exchangeEntry = Type.Object(
  { url: text, client: text, dir: text, ca: text, passphrase_file: text },
  CLOSED,
)
const configFileShape = Type.Object(
  {
    exchanges: Type.Unsafe<Record<string, Shape<typeof exchangeEntry>>>({
      type: 'object',
      additionalProperties: exchangeEntry,
    }),
  },
  CLOSED,
)
type Config = Shape<typeof configFileShape>
const config = shapeValidator(configFileShape, 'CLI')

/** Fills in the options that the command line leaves out. A named exchange wins over variables and defaults. */
export function applyExchange(command: Command): void {
  const name: unknown = command.getOptionValue('exchange')
  if (typeof name !== 'string') return
  const file = configFile(process.env)
  const { exchanges } = readConfig(file)
  const entry = Object.hasOwn(exchanges, name) ? exchanges[name] : undefined
  if (!entry) {
    const known = Object.keys(exchanges).join(', ') || 'none'
    throw new CommandFailure(visible(`${file} has no exchange "${name}". It has: ${known}.`))
  }
  const path = (value: string | undefined) => value && resolve(dirname(file), value)
  const values: Readonly<Record<string, string | undefined>> = {
    url: entry.url,
    client: entry.client,
    dir: path(entry.dir),
    ca: path(entry.ca),
    passphraseFile: path(entry.passphrase_file),
  }
  for (const option of command.options) {
    const attribute = option.attributeName()
    const value = values[attribute]
    if (value !== undefined && command.getOptionValueSource(attribute) !== 'cli')
      command.setOptionValueWithSource(attribute, value, 'config')
  }
}

function configFile(env: NodeJS.ProcessEnv): string {
  const folder = env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  return env['AEX_CONFIG'] || join(folder, 'aex', 'config.json')
}

/** Whoever can write the file decides where the agent sends, so only its owner may. */
function readConfig(file: string): Config {
  let content: unknown
  try {
    const { mode, size } = statSync(file)
    if (process.platform !== 'win32' && (mode & WRITABLE_BY_OTHERS) !== 0)
      throw new CommandFailure(`Other users can change ${file}. Restrict it: chmod go-w ${file}`)
    if (size > MAXIMUM_BYTES) throw new CommandFailure(`${file} is larger than ${MAXIMUM_BYTES} bytes.`)
    content = parseStrictJson(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`${file} cannot be read as JSON. It names the exchanges for --exchange.`)
  }
  if (config.accepts(content)) return content
  throw new CommandFailure(
    `${file} is not of the expected form: {"exchanges": {"NAME": {…}}} with url, client, dir, ca and passphrase_file.`,
  )
}
