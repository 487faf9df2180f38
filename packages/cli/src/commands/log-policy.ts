import { writeFileSync } from 'node:fs'
import {
  formatPolicy,
  LogError,
  logKeyFingerprint,
  parseVerifierKey,
  type VerifierKey,
} from '@agent-exchange/log'
import { createTlsFetch } from '@agent-exchange/sdk/node'
import { Command, Option } from 'commander'
import { caOption, urlOption } from '../agent/agent-options.ts'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'
import { visible, visibleJson } from '../visible.ts'
import { requireWritable } from '../writable-file.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'
const MAXIMUM_ANSWER_BYTES = 262_144
const WAIT_MS = 15_000

const EXAMPLES = `
Examples:
  $ aex log policy --url https://exchange.example
  $ aex log policy --url https://exchange.example --fingerprint F --out policy.txt
  $ aex log policy --url https://exchange.example --fingerprint F \\
      --witness "$(cat bolt.vkey)" --out policy.txt

The log key is public. Whether it is the right one, only its owner can say: ask the
operator for the fingerprint over another channel, such as the contract. Without
--fingerprint the file says "unconfirmed", and verdicts under it prove nothing about a
log that you know. Give --fingerprint once for each key while a rotation is under way.`

interface PolicyOptions {
  readonly url: string
  readonly ca?: string
  readonly fingerprint?: readonly string[]
  readonly witness?: readonly string[]
  readonly out?: string
  readonly json?: boolean
}

export function logPolicyCommand(): Command {
  return new Command('policy')
    .description('Write the policy that aex verify needs, from the log key of an exchange')
    .addOption(urlOption('address of the exchange').default(DEFAULT_URL))
    .addOption(caOption())
    .option('--fingerprint <fingerprint...>', 'fingerprint of the log key, from the operator')
    .addOption(new Option('--witness <vkey...>', 'keys of witnesses; all of them have to cosign'))
    .option('--out <file>', 'write the policy there instead of to standard output')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(writePolicy)
}

async function writePolicy(options: PolicyOptions): Promise<void> {
  const { fingerprint: expected = [], witness = [], out, json } = options
  if (out !== undefined) requireWritable(out, 'The policy')
  const logs = await fetchLogKeys(options)
  const fingerprints = logs.map(logKeyFingerprint)
  const isConfirmed = expected.length > 0
  requireExpected(logs, expected)
  const kept = logs.filter((key) => !isConfirmed || expected.includes(logKeyFingerprint(key)))
  const policy = formatPolicy({ logs: kept, witnesses: witness.map(readKey), isConfirmed })
  if (out !== undefined) writeFileSync(out, policy)
  if (json) console.log(visibleJson({ fingerprints, is_confirmed: isConfirmed, policy }))
  else if (out === undefined) console.log(policy.trimEnd())
  if (out !== undefined) console.error(`Wrote ${out}`)
  if (!isConfirmed)
    console.error(
      `Unconfirmed: compare the fingerprint ${fingerprints.join(' and ')} with the operator, and repeat the command with --fingerprint.`,
    )
}

function requireExpected(logs: readonly VerifierKey[], expected: readonly string[]): void {
  const shown = logs.map(logKeyFingerprint)
  const missing = expected.filter((each) => !shown.includes(each))
  if (missing.length > 0)
    throw new CommandFailure(
      `The exchange shows another log key (${shown.join(', ')}) than the one with fingerprint ${visible(missing.join(', '))}. Do not trust it: ask the operator.`,
    )
}

async function fetchLogKeys({ url, ca }: PolicyOptions): Promise<VerifierKey[]> {
  const tls = ca === undefined ? undefined : createTlsFetch({ ca: readPem(ca) })
  const address = `${url.replace(/\/+$/u, '')}/log/key`
  try {
    const response = await (tls?.fetch ?? fetch)(address, {
      signal: AbortSignal.timeout(WAIT_MS),
      redirect: 'error',
    })
    const text = await response.text()
    if (!response.ok || text.length > MAXIMUM_ANSWER_BYTES)
      throw new CommandFailure(`${address} answered ${response.status} and no log key.`)
    const { verifier_keys: keys } = JSON.parse(text) as { verifier_keys?: unknown }
    if (!Array.isArray(keys) || keys.length === 0) throw new CommandFailure(`${address} names no log key.`)
    return keys.map(readKey)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      `The log key cannot be read from ${address}. Is the address right, and does the exchange run?`,
    )
  } finally {
    await tls?.close()
  }
}

function readKey(text: unknown): VerifierKey {
  try {
    return parseVerifierKey(String(text))
  } catch (error) {
    if (error instanceof LogError) throw new CommandFailure(`A key cannot be read. ${error.message}`)
    throw error
  }
}
