import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import {
  DEFAULT_CAPSULE_BYTES,
  MAXIMUM_CAPSULE_BYTES,
  renderCapsuleHtml,
  verifyCapsuleFile,
  verifySplitViewFile,
  type VerifyEvidenceOptions,
} from '@agent-exchange/log'
import { Command, Option } from 'commander'
import type { CollectedEvidence } from '../agent/capsule-evidence.ts'
import { CommandFailure } from '../failure.ts'
import { readInputs, sortPolicies, withInputOptions, type EvidenceInputs } from '../verify/evidence-inputs.ts'
import { verifyLines } from '../verify/verify-lines.ts'
import { verdictDocument, verdictText } from '../verify/print-verdict.ts'
import { readBounded } from '../verify/read-bounded.ts'
import { readerOf } from '../verify/read-names.ts'
import { renderSplitView } from '../verify/split-view-text.ts'
import { visibleJson } from '../visible.ts'
import { wrapped } from '../verify/wrap-verdict.ts'
import { wholeNumber } from '../whole-number.ts'
import { requireWritable } from '../writable-file.ts'

const EXAMPLES = `
Examples:
  $ aex verify capsule.json --policy policy.txt
  $ aex verify capsule.json --policy policy.txt --require witnessed
  $ aex verify capsule.json --policy policy.txt --html report.html
  $ aex verify capsule.json --policy policy.txt --content envelope.json \\
      --fingerprint agent_cars=FINGERPRINT
  $ aex verify capsule.json --require unpinned --json
  $ aex verify --page verify.html
  $ aex verify --lines < capsules.jsonl

The policy is a C2SP tlog-policy: the log keys and witnesses that you trust. Write
it with aex log policy, never from what the author of the capsule says. --policy
also takes policy_envelope objects, to compare them with what was evaluated.

Exit codes:
  0  the capsule proves at least the required level
  1  the capsule contradicts itself, or the operator signed two histories
  2  the capsule or the policy cannot be read, a report cannot be written, or
     something unexpected happened; nothing was found either way
  3  the capsule is consistent, but below the required level, or in doubt
     (--strict)`

const MEGABYTE = 1_048_576
const CONTRADICTION = 1
const UNREADABLE = 2
interface VerifyOptions extends EvidenceInputs {
  readonly require: 'unpinned' | 'log-signed' | 'witnessed'
  readonly strict?: boolean
  readonly maximumSize: number
  readonly html?: string
  readonly page?: string
  readonly json?: boolean
  readonly lines?: boolean
}

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('Verify a capsule offline; needs no service, no agent and no network')
    .argument('[file]', 'a capsule, evidence of version 1, or a split view')
    .addOption(
      new Option('--require <level>', 'what the capsule has to prove at least')
        .choices(['unpinned', 'log-signed', 'witnessed'])
        .default('log-signed'),
    )
    .option('--strict', 'do not accept a capsule that a person should look at')
    .addOption(
      new Option('--maximum-size <megabytes>', 'largest file to read; memory and time grow with it')
        .argParser(wholeNumber(1, MAXIMUM_CAPSULE_BYTES / MEGABYTE, 'megabytes'))
        .default(DEFAULT_CAPSULE_BYTES / MEGABYTE),
    )
    .option('--html <file>', 'write a report for printing')
    .option('--page <file>', 'write the verifier as one web page that works offline')
    .option('--json', 'print one JSON document')
    .option(
      '--lines',
      'read {"capsule":…,"policy":…} a line from standard input, and answer each with a line of JSON',
    )
    .addHelpText('after', EXAMPLES)
  return withInputOptions(command).action(verify)
}

/** Nothing but a verified contradiction ends with 1. */
async function verify(file: string | undefined, options: VerifyOptions): Promise<void> {
  try {
    await verifyFile(file, options)
  } catch (error) {
    refuse(error instanceof CommandFailure ? error.message : unexpected(error), options)
  }
}

async function verifyFile(file: string | undefined, options: VerifyOptions): Promise<void> {
  const { page, html, json } = options
  if (options.lines) return verifyLines(options)
  if (file === undefined && page === undefined) throw new CommandFailure('Give the capsule to verify.')
  if (page !== undefined) requireWritable(page, 'The page')
  if (html !== undefined) requireWritable(html, 'The report')
  if (page !== undefined) writePage(page)
  if (file === undefined) return
  const reader = await readerOf(options.names)
  const { envelopes, logPolicy: policy } = await sortPolicies(options.policy)
  const maximumBytes = options.maximumSize * MEGABYTE
  const bytes = await readBytes(file, maximumBytes)
  const split = await verifySplitViewFile(bytes, policy ? { policy } : {})
  if (split) {
    process.exitCode = split.exitCode
    console.log(json ? visibleJson(split) : wrapped(renderSplitView(split)))
    if (html !== undefined)
      console.error('No report was written: --html is for capsules, and this is a split view.')
    return
  }
  const result = await verifyCapsuleFile(bytes, {
    ...(await inputsFor(bytes, { ...options, policy: envelopes })),
    maximumBytes,
    require: options.require,
    strict: options.strict ?? false,
    ...(policy && { policy }),
  })
  process.exitCode = result.exitCode
  console.log(json ? visibleJson(verdictDocument(result, reader)) : verdictText(result, reader))
  if (html === undefined) return
  const verifiedAt = new Date().toISOString()
  try {
    write(html, renderCapsuleHtml(result, { ...reader, verifiedAt, file: basename(file) }))
  } catch (error) {
    console.error(error instanceof CommandFailure ? error.message : unexpected(error))
    failed()
  }
}

/** What else the reader has. Without such inputs, or for a file that is no evidence, nothing is compared. */
async function inputsFor(bytes: Uint8Array, inputs: EvidenceInputs): Promise<VerifyEvidenceOptions> {
  const { policy = [], content = [], fingerprint = [], anchor = [] } = inputs
  if (policy.length + content.length + fingerprint.length + anchor.length === 0) return {}
  try {
    return await readInputs(inputs, Object(parseStrictJson(bytes)) as CollectedEvidence)
  } catch (error) {
    if (error instanceof CryptoError) return {}
    throw error
  }
}

async function readBytes(file: string, maximumBytes: number): Promise<Uint8Array> {
  const read = await readBounded(file, maximumBytes, 'Allow more with --maximum-size.')
  if ('fault' in read) throw new CommandFailure(read.fault)
  return read.bytes
}

/** The page that the exchange serves at /verify, from a package that the reader chose. */
function writePage(file: string): void {
  const page = readFileSync(new URL(import.meta.resolve('@agent-exchange/log/verify-page.html')), 'utf8')
  write(file, page)
  console.error(`SHA-256 ${createHash('sha256').update(page).digest('hex')}`)
}

function write(file: string, page: string): void {
  try {
    writeFileSync(file, page)
  } catch {
    throw new CommandFailure(`${file} cannot be written.`)
  }
  console.error(`Wrote ${file}`)
}

function unexpected(error: unknown): string {
  return `The verification ended unexpectedly: ${error instanceof Error ? error.message : String(error)}`
}

function refuse(sentence: string, { json }: VerifyOptions): void {
  if (json)
    console.log(visibleJson({ word: 'unreadable', outcome: 'unreadable', exitCode: UNREADABLE, sentence }))
  else console.error(sentence)
  failed()
}

/** A contradiction that was found before stays one. */
function failed(): void {
  if (process.exitCode !== CONTRADICTION) process.exitCode = UNREADABLE
}
