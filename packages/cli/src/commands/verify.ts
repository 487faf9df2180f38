import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import {
  LogError,
  MAXIMUM_CAPSULE_BYTES,
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  verifyCapsuleFile,
  verifySplitViewFile,
  type LogPolicy,
} from '@agent-exchange/log'
import { Command, Option } from 'commander'
import { CommandFailure } from '../failure.ts'
import { readBounded } from '../verify/read-bounded.ts'
import { renderSplitView } from '../verify/split-view-text.ts'
import { visibleJson } from '../visible.ts'
import { wrapWords } from '../wrap-text.ts'
import { requireWritable } from '../writable-file.ts'

const EXAMPLES = `
Examples:
  $ aex verify capsule.json --policy policy.txt
  $ aex verify capsule.json --policy policy.txt --require witnessed
  $ aex verify capsule.json --policy policy.txt --html report.html
  $ aex verify capsule.json --require unpinned --json
  $ aex verify --page verify.html

The policy is a C2SP tlog-policy: the log keys and witnesses that you trust (see
"Write a policy" in docs/transparency.md). Get it from somebody other than the
author of the capsule.

Exit codes:
  0  the capsule proves at least the required level
  1  the capsule contradicts itself, or the operator signed two histories
  2  the capsule or the policy cannot be read, a report cannot be written, or
     something unexpected happened; nothing was found either way
  3  the capsule is consistent, but below the required level, or in doubt
     (--strict)`

/** Largest policy file; the parser has a lower limit of its own. */
const MAXIMUM_POLICY_FILE = 1_048_576
const CONTRADICTION = 1
const UNREADABLE = 2
const NOT_A_TLOG_POLICY =
  'is a protocol object in JSON, such as a policy_envelope. --policy takes a C2SP tlog-policy: see "Write a policy" in docs/transparency.md.'

interface VerifyOptions {
  readonly policy?: string
  readonly require: 'unpinned' | 'log-signed' | 'witnessed'
  readonly strict?: boolean
  readonly html?: string
  readonly page?: string
  readonly json?: boolean
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description('Verify a capsule offline; needs no service, no agent and no network')
    .argument('[file]', 'a capsule, evidence of version 1, or a split view')
    .option(
      '--policy <file>',
      'C2SP tlog-policy file: trusted log keys, witnesses, quorum (not a policy_envelope)',
    )
    .addOption(
      new Option('--require <level>', 'what the capsule has to prove at least')
        .choices(['unpinned', 'log-signed', 'witnessed'])
        .default('log-signed'),
    )
    .option('--strict', 'do not accept a capsule that a person should look at')
    .option('--html <file>', 'write a report for printing')
    .option('--page <file>', 'write the verifier as one web page that works offline')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(verify)
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
  if (file === undefined && page === undefined) throw new CommandFailure('Give the capsule to verify.')
  if (page !== undefined) requireWritable(page, 'The page')
  if (html !== undefined) requireWritable(html, 'The report')
  if (page !== undefined) writePage(page)
  if (file === undefined) return
  const policy = await readPolicy(options.policy)
  const bytes = await readBytes(file, MAXIMUM_CAPSULE_BYTES)
  const split = await verifySplitViewFile(bytes, policy ? { policy } : {})
  if (split) {
    process.exitCode = split.exitCode
    console.log(json ? visibleJson(split) : wrapped(renderSplitView(split)))
    if (html !== undefined)
      console.error('No report was written: --html is for capsules, and this is a split view.')
    return
  }
  const result = await verifyCapsuleFile(bytes, {
    require: options.require,
    strict: options.strict ?? false,
    ...(policy && { policy }),
  })
  process.exitCode = result.exitCode
  console.log(json ? visibleJson(result) : wrapped(renderCapsuleText(result)))
  if (html === undefined) return
  const verifiedAt = new Date().toISOString()
  try {
    write(html, renderCapsuleHtml(result, { verifiedAt, file: basename(file) }))
  } catch (error) {
    console.error(error instanceof CommandFailure ? error.message : unexpected(error))
    failed()
  }
}

async function readPolicy(file: string | undefined): Promise<LogPolicy | undefined> {
  if (file === undefined) return undefined
  try {
    const bytes = await readBytes(file, MAXIMUM_POLICY_FILE)
    if (isPolicyEnvelope(bytes)) throw new CommandFailure(`${file} ${NOT_A_TLOG_POLICY}`)
    return parsePolicy(bytes)
  } catch (error) {
    if (!(error instanceof LogError || error instanceof CommandFailure)) throw error
    throw new CommandFailure(`The policy cannot be used: ${error.message}`)
  }
}

/** The two kinds of policy are easily confused: `aex agent evidence --policy` takes the other one. */
function isPolicyEnvelope(bytes: Uint8Array): boolean {
  try {
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof content === 'object' && content !== null && 'object_type' in content
  } catch {
    return false
  }
}

async function readBytes(file: string, maximumBytes: number): Promise<Uint8Array> {
  const read = await readBounded(file, maximumBytes)
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
  if (json) console.log(visibleJson({ outcome: 'unreadable', exitCode: UNREADABLE, sentence }))
  else console.error(sentence)
  failed()
}

/** A contradiction that was found before stays one. */
function failed(): void {
  if (process.exitCode !== CONTRADICTION) process.exitCode = UNREADABLE
}

/** Fingerprints stay whole, so that they can be compared. */
function wrapped(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const indent = /^ */u.exec(line)?.[0] ?? ''
      return wrapWords(line.slice(indent.length).split(' '), {
        indent,
        hanging: indent === '' ? '' : `${indent}  `,
      })
    })
    .join('\n')
}
