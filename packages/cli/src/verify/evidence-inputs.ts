import { readFileSync } from 'node:fs'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import {
  packageOfEnvelope,
  type LogPolicy,
  type ChainAnchor,
  type VerifyEvidenceOptions,
} from '@agent-exchange/log'
import { InvalidArgumentError, type Command } from 'commander'
import type { CollectedEvidence } from '../agent/capsule-evidence.ts'
import { CommandFailure } from '../failure.ts'
import { visible } from '../visible.ts'
import { objectFrom } from '../agent/object-file.ts'
import { isJsonObject, readLogPolicy } from './read-log-policy.ts'

/** What the verifying person has from other sources. */
export interface EvidenceInputs {
  /** Of both kinds: see {@link sortPolicies}. */
  readonly policy?: readonly string[]
  readonly content?: readonly string[]
  readonly fingerprint?: readonly [agentId: string, fingerprint: string][]
  readonly anchor?: readonly Omit<ChainAnchor, 'threadId'>[]
  readonly names?: string
}

/** The options of every command that verifies evidence. */
export function withInputOptions(command: Command): Command {
  return command
    .option(
      '--policy <file...>',
      'C2SP tlog-policy: trusted log keys, witnesses, quorum; or policy_envelope objects, to compare with the evaluated ones',
    )
    .option('--content <file...>', 'downloaded envelopes, to verify their signatures too')
    .option(
      '--fingerprint <agent=fingerprint...>',
      'fingerprints of signing keys, from their owners',
      readFingerprint,
    )
    .option('--anchor <position=hash...>', 'ends of the chain from earlier verifications', readAnchor)
    .option('--names <file>', 'your own names of organizations, as aex agent name --json prints them')
}

/** The two kinds of policy: a tlog-policy names whom to trust, a policy_envelope who may receive a package. */
export async function sortPolicies(
  files: readonly string[] = [],
): Promise<{ readonly envelopes: readonly string[]; readonly logPolicy: LogPolicy | undefined }> {
  const kinds = await Promise.all(files.map(isJsonObject))
  const envelopes = files.filter((_, at) => kinds[at])
  const [first, ...more] = files.filter((_, at) => !kinds[at])
  if (more.length > 0)
    throw new CommandFailure(`Give one tlog-policy, not ${more.length + 1}: it may name several log keys.`)
  return { envelopes, logPolicy: await readLogPolicy(first) }
}

/** Reads the inputs. Refuses one that matches nothing in the evidence, since it proves nothing. */
export async function readInputs(
  { policy = [], content = [], fingerprint = [], anchor = [] }: EvidenceInputs,
  bundle: CollectedEvidence,
): Promise<VerifyEvidenceOptions> {
  const policies = await Promise.all(policy.map((file) => readPolicy(file, bundle)))
  const contents = Object.fromEntries(content.map((file) => readContent(file, bundle)))
  const agents = Map.groupBy(fingerprint, ([agentId]) => agentId)
  const fingerprints = Object.fromEntries(
    [...agents].map(([agentId, pairs]) => [agentId, pairs.map(([, value]) => value)]),
  )
  for (const agentId of agents.keys())
    if (!isIn(bundle.keys, ['agent_id'], agentId))
      throw new CommandFailure(`No key of ${visible(agentId)} is in this evidence.`)
  const anchors = anchor.map((each) => ({ ...each, threadId: bundle.thread_id }))
  return { policies, contents, fingerprints, anchors }
}

async function readPolicy(file: string, { packages }: CollectedEvidence): Promise<PolicyEnvelope> {
  const policy = await objectFrom(file, ['policy_envelope'])
  const isUsed = isIn(packages, ['policy_receipt', 'policy_id'], policy.policy_id)
  if (isUsed) return policy
  throw new CommandFailure(`${file} is ${policy.policy_id}, under which no package here was evaluated.`)
}

function readContent(
  file: string,
  { packages }: CollectedEvidence,
): [packageId: string, content: Uint8Array] {
  const content = readBytes(file)
  const packageId = packageOfEnvelope(content)
  if (packageId === undefined)
    throw new CommandFailure(
      `${file} is not an envelope. Give the bytes that ciphertext_download_url returns.`,
    )
  if (isIn(packages, ['metadata', 'package_id'], packageId)) return [packageId, content]
  throw new CommandFailure(`${file} is the content of ${visible(packageId)}, which is not in this evidence.`)
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch {
    throw new CommandFailure(`${file} cannot be read.`)
  }
}

/** Whether an item of the list has this value at the path. Unverified evidence may have any shape. */
function isIn(list: unknown, path: readonly string[], value: string): boolean {
  const items: readonly unknown[] = Array.isArray(list) ? list : []
  return items.some((item) => path.reduce(memberOf, item) === value)
}

function memberOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value) as object, name)
}

/** `AGENT=FINGERPRINT`, RFC 7638. */
function readFingerprint(text: string, before: [string, string][] | undefined = []): [string, string][] {
  const [, agentId, fingerprint] = /^(agent_[A-Za-z0-9_-]+)=([A-Za-z0-9_-]{43})$/u.exec(text) ?? []
  if (agentId === undefined || fingerprint === undefined)
    throw new InvalidArgumentError(
      'Write it as AGENT=FINGERPRINT, with the 43 characters of `aex agent fingerprint`.',
    )
  return [...before, [agentId, fingerprint]]
}

/** `POSITION=HASH`, the printed end of a chain. */
function readAnchor(
  text: string,
  before: Omit<ChainAnchor, 'threadId'>[] | undefined = [],
): Omit<ChainAnchor, 'threadId'>[] {
  const [, position, hash] = /^(\d{1,15})=([0-9a-f]{64})$/u.exec(text) ?? []
  if (position === undefined || hash === undefined)
    throw new InvalidArgumentError('Write it as POSITION=HASH, as an earlier verification printed it.')
  return [...before, { position: Number(position), hash }]
}
