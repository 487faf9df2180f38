import { readFileSync, writeFileSync } from 'node:fs'
import { parseStrictJson } from '@agent-exchange/crypto'
import type { PackageResource } from '@agent-exchange/protocol'
import { verifyEvidence, type EvidenceBundle, type EvidenceReport } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { visible } from '../../visible.ts'
import { table } from '../operator/table.ts'

export function agentThreadCommand(): Command {
  return agentCommandOf('thread', 'Show the packages of a thread and their states', 'thread thread_1')
    .argument('<thread_id>', 'the thread')
    .action(async (threadId: string, options: AgentOptions) => {
      const packages: PackageResource[] = []
      let mode = ''
      await withAgent(options, async (agent) => {
        for await (const page of agent.thread(threadId)) {
          packages.push(...page.packages)
          mode = page.transport_mode
        }
      })
      if (options.json) {
        const shown = { thread_id: threadId, transport_mode: mode, packages }
        return console.log(JSON.stringify(shown, undefined, 2))
      }
      const rows = packages.map(({ package_id, state, created_at, metadata }) => ({
        package_id,
        state,
        created_at,
        from: metadata.sender_agent_id,
        answers: metadata.responds_to_package_id,
      }))
      console.log(
        `${threadId}  ${mode}\n${table(rows, ['package_id', 'state', 'created_at', 'from', 'answers'])}`,
      )
    })
}

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
  )
    .argument('[id]', 'a package or a thread')
    .option('--out <file>', 'keep the evidence in a file')
    .option('--verify <file>', 'verify evidence that was kept; needs no exchange and no agent')
    .action(async (id: string | undefined, options: EvidenceOptions) => {
      if ((id === undefined) === (options.verify === undefined))
        throw new CommandFailure('Give the id of a package or a thread, or --verify FILE.')
      const bundle =
        options.verify === undefined ? await collect(id ?? '', options) : readBundle(options.verify)
      if (options.out !== undefined) save(options.out, bundle)
      const report = await verifyEvidence(bundle)
      if (options.json) console.log(JSON.stringify({ report, evidence: bundle }, undefined, 2))
      else print(report)
      if (report.verdict === 'broken') process.exitCode = 1
    })
}

function collect(id: string, options: AgentOptions): Promise<EvidenceBundle> {
  const subject = id.startsWith('thread_') ? { threadId: id } : { packageId: id }
  return withAgent(options, (agent) => agent.evidence(subject))
}

function readBundle(file: string): EvidenceBundle {
  try {
    return parseStrictJson(readFileSync(file)) as unknown as EvidenceBundle
  } catch {
    throw new CommandFailure(`${file} holds no evidence that can be read.`)
  }
}

function save(file: string, bundle: EvidenceBundle): void {
  try {
    writeFileSync(file, `${JSON.stringify(bundle, undefined, 2)}\n`, { mode: 0o600 })
  } catch {
    throw new CommandFailure(`${file} cannot be written.`)
  }
  console.error(`Wrote ${file}`)
}

function print({ verdict, checks, unverifiable, chainEnd }: EvidenceReport): void {
  for (const { what, ok, doubt, detail } of checks)
    console.log(`${ok ? (doubt ? '?' : '✔') : '✖'} ${visible(what)}  ${visible(detail)}`)
  for (const { what, why } of unverifiable)
    console.log(`– ${visible(what)}  cannot be known: ${visible(why)}`)
  if (chainEnd) console.log(`\nThe chain ends at entry ${chainEnd.position}: ${chainEnd.hash}`)
  console.log(`\nThe evidence ${verdict === 'holds' ? 'holds' : `is ${verdict}`}.`)
}
