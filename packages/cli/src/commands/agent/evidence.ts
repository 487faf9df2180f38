import { readFileSync } from 'node:fs'
import { parseStrictJson } from '@agent-exchange/crypto'
import { verifyEvidence, type EvidenceBundle } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { writeContent } from '../../agent/content-file.ts'
import { readAnchor, readFingerprint, readInputs, type EvidenceInputs } from '../../agent/evidence-inputs.ts'
import { evidenceLines } from '../../agent/evidence-text.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { visibleJson } from '../../visible.ts'

interface EvidenceOptions extends AgentOptions, EvidenceInputs {
  readonly out?: string
  readonly verify?: string
}

export function agentEvidenceCommand(): Command {
  return agentCommandOf(
    'evidence',
    'Collect the evidence of a package or a thread, and verify it offline',
    'evidence thread_1 --out evidence.json',
    'evidence --verify evidence.json',
    'evidence --verify evidence.json --policy policy.json --content envelope.json',
    'evidence --verify evidence.json --fingerprint agent_cars=FINGERPRINT --json',
  )
    .argument('[id]', 'a package or a thread')
    .option('--out <file>', 'write the evidence to a file')
    .option('--verify <file>', 'verify stored evidence; needs no exchange and no agent')
    .option('--policy <file...>', 'policy_envelope objects, to compare with the evaluated ones')
    .option('--content <file...>', 'downloaded envelopes, to verify their signatures too')
    .option(
      '--fingerprint <agent=fingerprint...>',
      'fingerprints of signing keys, from their owners',
      readFingerprint,
    )
    .option('--anchor <position=hash...>', 'ends of the chain from earlier verifications', readAnchor)
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
  const report = await verifyEvidence(bundle, await readInputs(options, bundle))
  if (json) console.log(visibleJson({ report, evidence: bundle }))
  else console.log(evidenceLines(report).join('\n'))
  if (report.verdict === 'broken') process.exitCode = 1
}

function collect(id: string, options: AgentOptions): Promise<EvidenceBundle> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  return withAgent(options, (agent) => agent.evidence(subject))
}

/** Any JSON object; the verifier checks its content. */
function readBundle(file: string): EvidenceBundle {
  try {
    const content: unknown = parseStrictJson(readFileSync(file))
    if (typeof content === 'object' && content !== null) return content as EvidenceBundle
  } catch {
    // said below
  }
  throw new CommandFailure(`${file} holds no evidence that can be read. Collect it with --out FILE.`)
}
