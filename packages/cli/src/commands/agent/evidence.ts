import { readFileSync } from 'node:fs'
import { parseStrictJson } from '@agent-exchange/crypto'
import { verifyEvidence, type EvidenceBundle, type EvidenceReport } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { writeContent } from '../../agent/content-file.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { visible, visibleJson } from '../../visible.ts'

interface EvidenceOptions extends AgentOptions {
  readonly out?: string
  readonly verify?: string
}

export function agentEvidenceCommand(): Command {
  return agentCommandOf(
    'evidence',
    'Collect the evidence of a package or a thread, and verify it offline',
    'evidence thread_1 --out evidence.json',
    'evidence --verify evidence.json',
    'evidence --verify evidence.json --json',
  )
    .argument('[id]', 'a package or a thread')
    .option('--out <file>', 'keep the evidence in a file')
    .option('--verify <file>', 'verify evidence that was kept; needs no exchange and no agent')
    .action(evidence)
}

async function evidence(id: string | undefined, options: EvidenceOptions): Promise<void> {
  const { out, verify, json } = options
  if ((id === undefined) === (verify === undefined))
    throw new CommandFailure('Give the id of a package or a thread, or --verify FILE.')
  const bundle = verify === undefined ? await collect(id ?? '', options) : readBundle(verify)
  if (out !== undefined) {
    writeContent(out, visibleJson(bundle))
    console.error(`Wrote ${out}`)
  }
  const report = await verifyEvidence(bundle)
  if (json) console.log(visibleJson({ report, evidence: bundle }))
  else print(report)
  if (report.verdict === 'broken') process.exitCode = 1
}

function collect(id: string, options: AgentOptions): Promise<EvidenceBundle> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  return withAgent(options, (agent) => agent.evidence(subject))
}

/** Anything that is an object: what it holds is for the verifier to judge. */
function readBundle(file: string): EvidenceBundle {
  try {
    const content: unknown = parseStrictJson(readFileSync(file))
    if (typeof content === 'object' && content !== null) return content as EvidenceBundle
  } catch {
    // said below
  }
  throw new CommandFailure(`${file} holds no evidence that can be read. Collect it with --out FILE.`)
}

function print({ verdict, checks, unverifiable, chainEnd }: EvidenceReport): void {
  for (const { what, ok, doubt, detail } of checks)
    console.log(`${ok ? (doubt ? '?' : '✔') : '✖'} ${visible(what)}  ${visible(detail)}`)
  for (const { what, why } of unverifiable)
    console.log(`– ${visible(what)}  cannot be known: ${visible(why)}`)
  if (chainEnd) console.log(`\nThe chain ends at entry ${chainEnd.position}: ${chainEnd.hash}`)
  console.log(`\nThe evidence ${verdict === 'holds' ? 'holds' : `is ${verdict}`}.`)
}
