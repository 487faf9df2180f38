import { readFileSync } from 'node:fs'
import { parseStrictJson } from '@agent-exchange/crypto'
import { readerWith, verifyCapsule, type Reader } from '@agent-exchange/log'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { PendingLeaf } from '@agent-exchange/sdk'
import { openAgentFolder, readAddressBook } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import type { CollectedEvidence } from '../../agent/capsule-evidence.ts'
import { writeContent } from '../../agent/content-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import {
  readInputs,
  sortPolicies,
  withInputOptions,
  type EvidenceInputs,
} from '../../verify/evidence-inputs.ts'
import { sayRenamed } from '../../renamed-command.ts'
import { readerOf } from '../../verify/read-names.ts'
import { verdictDocument, verdictText } from '../../verify/print-verdict.ts'
import { visibleJson } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'
import { requireWritable } from '../../writable-file.ts'

/** The default profile promises inclusion within 60 s. */
const DEFAULT_WAIT_SECONDS = 75

interface EvidenceOptions extends AgentOptions, EvidenceInputs {
  readonly out?: string
  readonly verify?: string
  readonly wait: number
  readonly earlier?: true
  readonly disclose?: readonly string[]
}

export function agentEvidenceCommand(): Command {
  const command = agentCommandOf(
    'evidence',
    'Collect the evidence of a package or a thread, and say what it proves',
    'evidence thread_1 --out capsule.json',
    'evidence thread_1 --out capsule.json --wait 0',
    'evidence thread_1 --out earlier.json --earlier',
    'evidence thread_1 --out capsule.json --disclose pkg_1',
  )
    .argument('[id]', 'a package or a thread')
    .option('--out <file>', 'write a capsule: the evidence with its proofs from the log')
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for the log to include everything')
        .argParser(wholeNumber(0, 3_600, 'seconds'))
        .default(DEFAULT_WAIT_SECONDS),
    )
    .option('--earlier', 'collect the packages from before version 2 of the evidence, in format 2')
    .option(
      '--disclose <package...>',
      'let whoever reads the capsule read the content of these packages: their keys are in it',
    )
    .addOption(new Option('--verify <file>', 'verify stored evidence').hideHelp())
  return withInputOptions(command).action(evidence)
}

async function evidence(id: string | undefined, options: EvidenceOptions): Promise<void> {
  const { out, verify, json, disclose, earlier } = options
  if ((id === undefined) === (verify === undefined))
    throw new CommandFailure('Give the id of a package or a thread. To verify a file: aex verify FILE.')
  if (verify !== undefined) sayRenamed('aex agent evidence --verify', 'aex verify')
  if (disclose && (out === undefined || earlier))
    throw new CommandFailure('--disclose needs --out FILE, and evidence of format 3: leave --earlier out.')
  if (out !== undefined) requireWritable(out, 'The capsule')
  const reader = await readerFor(options)
  const { found, profile } =
    verify === undefined ? await collect(id ?? '', options) : { found: readBundle(verify) }
  if (out !== undefined) {
    writeContent(out, visibleJson(found))
    console.error(`Wrote ${out}`)
  }
  const { envelopes, logPolicy: policy } = await sortPolicies(options.policy)
  const result = await verifyCapsule(found, {
    ...(await readInputs({ ...options, policy: envelopes }, found)),
    ...(profile && { profile }),
    ...(policy ? { policy } : { require: 'unpinned' }),
  })
  console.log(
    json
      ? visibleJson({ report: verdictDocument(result, reader), evidence: found })
      : verdictText(result, reader),
  )
  if (result.outcome === 'contradiction' || result.outcome === 'unreadable') process.exitCode = 1
  else if (!policy && (out ?? verify) !== undefined)
    console.error(
      `Verify it against the log key that you trust: ${aexStep('log', 'policy', '--out', 'policy.txt')}, then ${aexStep('verify', out ?? verify ?? '', '--policy', 'policy.txt')}`,
    )
}

/** The names of a file, or else those of the folder that collects. */
async function readerFor(options: EvidenceOptions): Promise<Reader> {
  const { names, dir, verify } = options
  if (names !== undefined || verify !== undefined) return readerOf(names)
  return explained(options, async () => {
    const { files } = await openAgentFolder(dir)
    return readerWith(await readAddressBook(files.settings))
  })
}

interface Collected {
  readonly found: CollectedEvidence
  /** How the exchange behaves, by what it publishes; unknown for a file. */
  readonly profile?: DeploymentProfile
}

/** Waits for the log only where the result goes to a file. */
function collect(id: string, options: EvidenceOptions): Promise<Collected> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  return withAgent(options, async (agent) => {
    const { deployment } = agent.context
    const wait = { waitMs: options.out === undefined ? 0 : options.wait * 1_000, onWait }
    const { capsule, pending, hasLog, earlierPackages } = options.earlier
      ? { ...(await agent.earlierCapsule(subject, wait)), earlierPackages: 0 }
      : await agent.capsule(subject, { ...wait, disclose: options.disclose ?? [] })
    if (!hasLog) console.error('The exchange publishes no transparency log: this is evidence of version 1.')
    if (earlierPackages > 0)
      console.error(
        `Without ${packages(earlierPackages)} from before version 2 of the evidence: add --earlier.`,
      )
    if (options.out !== undefined) reportPending(pending)
    return { found: capsule, profile: deployment.profile }
  })
}

function reportPending(pending: readonly PendingLeaf[]): void {
  for (const { what, packageId, agentId, number } of pending)
    console.error(
      what === 'record'
        ? `Not in the log yet: the record of ${packageId} from entry ${number} on.`
        : `Not in the log yet: key event ${number} of ${agentId}.`,
    )
}

const packages = (count: number) => (count === 1 ? 'one package' : `${count} packages`)
const onWait = (pending: readonly PendingLeaf[]) =>
  console.error(`Waiting for the log to include ${leaves(pending.length)}.`)
const leaves = (count: number) => (count === 1 ? 'one more leaf' : `${count} more leaves`)

/** Any JSON object; the verifier checks its content. */
function readBundle(file: string): CollectedEvidence {
  try {
    const content: unknown = parseStrictJson(readFileSync(file))
    if (typeof content === 'object' && content !== null) return content as CollectedEvidence
  } catch {
    // said below
  }
  throw new CommandFailure(`${file} holds no evidence that can be read. Collect it with --out FILE.`)
}
