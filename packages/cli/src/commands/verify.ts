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
import { readBounded } from '../verify/read-bounded.ts'
import { renderSplitView } from '../verify/split-view-text.ts'
import { visibleJson } from '../visible.ts'
import { wrapWords } from '../wrap-text.ts'

const EXAMPLES = `
Examples:
  $ aex verify capsule.json --policy policy.txt
  $ aex verify capsule.json --policy policy.txt --require witnessed
  $ aex verify capsule.json --policy policy.txt --html report.html
  $ aex verify capsule.json --require unpinned --json
  $ aex verify --page verify.html

The policy is a C2SP tlog-policy: the log keys and witnesses that you trust. Get
it from somebody other than the author of the capsule.

Exit codes:
  0  the capsule proves at least the required level
  1  the capsule contradicts itself, or the operator signed two histories
  2  the capsule or the policy cannot be read
  3  the capsule is consistent, but below the required level`

/** Largest policy file; the parser has a lower limit of its own. */
const MAXIMUM_POLICY_FILE = 1_048_576
const UNREADABLE = 2

interface VerifyOptions {
  readonly policy?: string
  readonly require: 'unpinned' | 'log-signed' | 'witnessed'
  readonly html?: string
  readonly page?: string
  readonly json?: boolean
}

export function verifyCommand(): Command {
  return new Command('verify')
    .description('Verify a capsule offline; needs no service, no agent and no network')
    .argument('[file]', 'a capsule, evidence of version 1, or a split view')
    .option('--policy <file>', 'whom you trust: log keys, witnesses and their quorum')
    .addOption(
      new Option('--require <level>', 'what the capsule has to prove at least')
        .choices(['unpinned', 'log-signed', 'witnessed'])
        .default('log-signed'),
    )
    .option('--html <file>', 'write a report for printing')
    .option('--page <file>', 'write the verifier as one web page that works offline')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(verify)
}

async function verify(file: string | undefined, options: VerifyOptions): Promise<void> {
  if (options.page !== undefined) writePage(options.page, options)
  if (file === undefined) {
    if (options.page === undefined) refuse('Give the capsule to verify.', options)
    return
  }
  const policy = await readPolicy(options.policy)
  if (typeof policy === 'string') return refuse(policy, options)
  const read = await readBounded(file, MAXIMUM_CAPSULE_BYTES)
  if ('fault' in read) return refuse(read.fault, options)
  const split = await verifySplitViewFile(read.bytes, policy ? { policy } : {})
  if (split) {
    console.log(options.json ? visibleJson(split) : wrapped(renderSplitView(split)))
    process.exitCode = split.exitCode
    return
  }
  const result = await verifyCapsuleFile(read.bytes, {
    require: options.require,
    ...(policy && { policy }),
  })
  if (options.html !== undefined) {
    const verifiedAt = new Date().toISOString()
    if (!writeReport(options.html, renderCapsuleHtml(result, { verifiedAt, file: basename(file) })))
      return refuse(`${options.html} cannot be written.`, options)
  }
  console.log(options.json ? visibleJson(result) : wrapped(renderCapsuleText(result)))
  process.exitCode = result.exitCode
}

async function readPolicy(file: string | undefined): Promise<LogPolicy | string | undefined> {
  if (file === undefined) return undefined
  const read = await readBounded(file, MAXIMUM_POLICY_FILE)
  if ('fault' in read) return `The policy cannot be used: ${read.fault}`
  try {
    return parsePolicy(read.bytes)
  } catch (error) {
    if (error instanceof LogError) return `The policy cannot be used: ${error.message}`
    throw error
  }
}

/** The page that the exchange serves at /verify, from a package that the reader chose. */
function writePage(file: string, options: VerifyOptions): void {
  const page = readFileSync(new URL(import.meta.resolve('@agent-exchange/log/verify-page.html')), 'utf8')
  if (!writeReport(file, page)) return refuse(`${file} cannot be written.`, options)
  console.error(`SHA-256 ${createHash('sha256').update(page).digest('hex')}`)
}

function writeReport(file: string, page: string): boolean {
  try {
    writeFileSync(file, page)
    console.error(`Wrote ${file}`)
    return true
  } catch {
    return false
  }
}

function refuse(sentence: string, { json }: VerifyOptions): void {
  if (json) console.log(visibleJson({ outcome: 'unreadable', exitCode: UNREADABLE, sentence }))
  else console.error(sentence)
  process.exitCode = UNREADABLE
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
