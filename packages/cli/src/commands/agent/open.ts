import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'

interface OpenOptions extends AgentOptions {
  readonly out?: string
  readonly receipts: boolean
}

export function agentOpenCommand(): Command {
  return agentCommandOf(
    'open',
    'Fetch a package, verify and open it, and send the signed receipts',
    'open pkg_1',
    'open pkg_1 --out capacity.json',
    'open pkg_1 --no-receipts',
  )
    .argument('<package_id>', 'the package')
    .option('--out <file>', 'write the object there instead of to standard output')
    .option('--no-receipts', 'look without telling the sender')
    .action(async (packageId: string, options: OpenOptions) => {
      const opened = await withAgent(options, (agent) =>
        agent.open(packageId, { receipts: options.receipts ? 'opened' : 'none' }),
      )
      const { object, metadata, senderKey, receipts, acceptedAt } = opened
      console.error(`  from      ${metadata.sender_agent_id} of ${metadata.sender_org_id}`)
      console.error(`  signed    ${senderKey.keyId}, verified`)
      console.error(`  accepted  ${acceptedAt}`)
      for (const { state } of receipts) console.error(`  receipt   ${state}, signed`)
      const text = JSON.stringify(object, undefined, 2)
      if (options.out === undefined) console.log(text)
      else save(options.out, text)
    })
}

/** Content is for the owner of the agent alone. */
function save(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600 })
  } catch {
    throw new CommandFailure(`${file} cannot be written. The package can be opened again.`)
  }
  console.error(`  wrote     ${file}`)
}

interface RevokeOptions extends AgentOptions {
  readonly reasonCode: string
  readonly reason: string
}

export function agentRevokeCommand(): Command {
  return agentCommandOf(
    'revoke',
    'Withdraw a package before it was opened, signed',
    'revoke pkg_1 --reason-code superseded --reason "A newer one follows."',
  )
    .argument('<package_id>', 'the package')
    .requiredOption('--reason-code <code>', 'a word such as superseded or sent_in_error')
    .requiredOption('--reason <text>', 'a sentence; the other side can read it')
    .action(async (packageId: string, { reasonCode, reason, ...options }: RevokeOptions) => {
      const done = await withAgent(options, (agent) =>
        agent.revoke(packageId, { reasonCode, reasonDetail: reason }),
      )
      if (options.json) return console.log(JSON.stringify(done, undefined, 2))
      console.log(`${packageId} is revoked${done.alreadyRevoked ? ' (it was before)' : ''}`)
      console.log(
        done.futureAccessBlocked
          ? '  nobody can fetch it any more'
          : '  access could NOT be blocked everywhere; run it again, and see --json for what is left',
      )
    })
}
