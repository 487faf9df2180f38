import {
  formatVerifierKey,
  LogError,
  parseVerifierKey,
  SIGNATURE_TYPE,
  type VerifierKey,
} from '@agent-exchange/log'
import { Command, InvalidArgumentError, Option } from 'commander'
import { interruption } from '../agent/interruption.ts'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'
import { visible } from '../visible.ts'
import { wholeNumber } from '../whole-number.ts'
import { stateFileOf, witnessKeyIn } from '../witness/witness-folder.ts'
import { startWitness } from '../witness/witness-server.ts'
import { openWitnessState } from '../witness/witness-state.ts'
import { group } from './operator/operator-command.ts'

const DEFAULT_PORT = 7380
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/u
/** Logs of one witness. */
const MAXIMUM_ORIGINS = 100

const KEY_EXAMPLES = `
Examples:
  $ aex witness key --dir ./witness --name witness.bolt.example
  $ aex witness key --dir ./witness

The printed key belongs in the policies of those who trust this witness.`

const SERVE_EXAMPLES = `
Examples:
  $ aex witness serve --dir ./witness --origin "$(cat log.vkey)"
  $ aex witness serve --dir ./witness --host 0.0.0.0 --port 443 \\
      --tls-cert cert.pem --tls-key key.pem --origin "$(cat log.vkey)"

An origin is the verifier key (vkey) of a log, as its operator publishes it at
/log/key. Compare it with the operator over another channel first.`

export function witnessCommand(): Command {
  return group('witness', 'Cosign the checkpoints of transparency logs of other companies', [
    new Command('key')
      .description('Print the verifier key of a witness; create it if there is none')
      .requiredOption('--dir <folder>', 'folder of the witness')
      .option('--name <name>', 'name of a new witness, such as a host name')
      .option('--json', 'print one JSON document')
      .addHelpText('after', KEY_EXAMPLES)
      .action(printKey),
    new Command('serve')
      .description('Answer the witness protocol (C2SP tlog-witness) until it is stopped')
      .requiredOption('--dir <folder>', 'folder of the witness: its key, and what it cosigned')
      .requiredOption('--origin <vkey...>', 'verifier keys of the logs to cosign', readOrigin)
      .addOption(
        new Option('--port <port>', 'port to listen on')
          .argParser(wholeNumber(0, 65_535, 'a port'))
          .default(DEFAULT_PORT),
      )
      .option('--host <address>', 'address to listen on; without TLS a loopback one', '127.0.0.1')
      .option('--tls-cert <file>', 'TLS certificate, PEM')
      .option('--tls-key <file>', 'its private key, PEM')
      .option('--json', 'print one JSON document once it listens')
      .addHelpText('after', SERVE_EXAMPLES)
      .action(serve),
  ])
}

async function printKey({ dir, name, json }: { dir: string; name?: string; json?: boolean }): Promise<void> {
  const { key } = await witnessKeyIn(dir, name)
  const vkey = formatVerifierKey(key)
  console.log(json ? JSON.stringify({ name: key.name, verifier_key: vkey }, undefined, 2) : vkey)
}

interface ServeOptions {
  readonly dir: string
  readonly origin: readonly VerifierKey[]
  readonly port: number
  readonly host: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly json?: boolean
}

async function serve(given: ServeOptions): Promise<void> {
  const { dir, origin: logs, port, host, tlsCert, tlsKey } = given
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new CommandFailure('Give both --tls-cert and --tls-key, or neither on a loopback address.')
  const tls =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : { cert: readPem(tlsCert), key: readPem(tlsKey) }
  if (!tls && !LOOPBACK.test(host))
    throw new CommandFailure(`${host} is reachable from other machines: give --tls-cert and --tls-key.`)
  const signer = await witnessKeyIn(dir)
  using state = openState(dir)
  const options = { signer, logs, state, now: () => new Date(), report }
  const stopped = interruption()
  await using server = await startWitness(options, { host, port, ...(tls && { tls }) })
  if (given.json) console.log(JSON.stringify({ name: signer.key.name, url: server.url }, undefined, 2))
  console.error(`Witness ${signer.key.name} listens at ${server.url}. Ctrl-C ends it.`)
  await stopped
}

const report = (sentence: string) => console.error(visible(sentence))

function openState(dir: string) {
  try {
    return openWitnessState(stateFileOf(dir))
  } catch {
    throw new CommandFailure(
      `${stateFileOf(dir)} cannot be used. Restore it; never start from an older copy.`,
    )
  }
}

/** A vkey, or NAME=vkey, in which the name says again which log is meant. */
function readOrigin(text: string, before: readonly VerifierKey[] = []): readonly VerifierKey[] {
  const [, name, vkey = text] = /^([^+=]+)=(.*)$/u.exec(text) ?? []
  if (before.length >= MAXIMUM_ORIGINS) throw new InvalidArgumentError(`At most ${MAXIMUM_ORIGINS} logs.`)
  try {
    const key = parseVerifierKey(vkey)
    if (key.type === SIGNATURE_TYPE.ed25519 && (name === undefined || name === key.name))
      return [...before, key]
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    throw new InvalidArgumentError(error.message)
  }
  throw new InvalidArgumentError('Give the verifier key of a log, or NAME=KEY with the name of that key.')
}
