import type { OwnKey, RotatedRole } from '@agent-exchange/sdk'
import { Argument, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { group } from '../operator/operator-command.ts'
import { table } from '../operator/table.ts'
import { timeOption } from '../operator/time-option.ts'

export function agentKeysCommand(): Command {
  return group('keys', "The agent's own keys", [listCommand(), rotateCommand(), revokeCommand()])
}

function listCommand(): Command {
  return agentCommandOf('list', 'List the keys in the store', 'keys list').action((options: AgentOptions) =>
    withAgent(options, async ({ context }) => show(await context.keys.list(), options)),
  )
}

function rotateCommand(): Command {
  return agentCommandOf(
    'rotate',
    'Replace a key; the new one is introduced by the signing key, so peers accept it',
    'keys rotate encryption',
  )
    .addArgument(new Argument('<role>', 'which key').choices(['signing', 'encryption']))
    .action((role: RotatedRole, options: AgentOptions) =>
      withAgent(options, async (agent) => {
        const { current, previous } = await agent.rotateKey(role)
        show([current, previous], options)
      }),
    )
}

interface RevokeOptions extends AgentOptions {
  readonly invalidFrom: string
  readonly reasonCode: string
  readonly evidence: string
}

function revokeCommand(): Command {
  return agentCommandOf(
    'revoke',
    'Revoke a key for ever; what was accepted before --invalid-from stays verifiable',
    'keys revoke KEY_ID --invalid-from 2026-03-01T08:00:00Z --reason-code compromise --evidence case_7',
  )
    .argument('<key_id>', 'id of the key')
    .addOption(
      timeOption(
        '--invalid-from <time>',
        'the earliest creation time that can no longer be trusted',
      ).makeOptionMandatory(),
    )
    .requiredOption('--reason-code <code>', 'a word such as compromise or superseded')
    .requiredOption('--evidence <reference>', 'where the case is on record; no business facts')
    .action((keyId: string, options: RevokeOptions) =>
      withAgent(options, async (agent) => {
        const key = await agent.revokeKey(keyId, {
          invalidFrom: new Date(options.invalidFrom),
          reasonCode: options.reasonCode,
          evidenceReference: options.evidence,
        })
        console.log(options.json ? JSON.stringify(key, undefined, 2) : `${keyId} is ${key.status}`)
      }),
    )
}

function show(keys: readonly OwnKey[], { json }: AgentOptions): void {
  if (json) return console.log(JSON.stringify(keys, undefined, 2))
  const rows = keys.map(({ role, stage, keyId, createdAt }) => ({
    role,
    stage,
    created_at: createdAt,
    key_id: keyId,
  }))
  console.log(table(rows, ['role', 'stage', 'created_at', 'key_id']))
}
