import type { OwnKey, RotatedRole } from '@agent-exchange/sdk'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { Argument, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import {
  agentCommandOf,
  folderCommandOf,
  passphraseOption,
  type AgentOptions,
} from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'
import { group } from '../operator/operator-command.ts'
import { table } from '../operator/table.ts'
import { revocationOf, withRevocationOptions, type RevocationOptions } from './key-revocation.ts'

export function agentKeysCommand(): Command {
  return group('keys', "The agent's own keys", [listCommand(), rotateCommand(), revokeCommand()])
}

function listCommand(): Command {
  return folderCommandOf('list', 'List the keys in the store; needs no exchange', 'keys list')
    .addOption(passphraseOption())
    .action(async (options: AgentOptions) => {
      const { dir, passphraseFile, json } = options
      const passphrase = passphraseFrom(passphraseFile)
      const keys = await explained(options, async () => {
        const folder = await openAgentFolder(dir, passphrase === undefined ? {} : { passphrase })
        return folder.keys.list()
      })
      show(keys, json)
    })
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
        show([current, previous], options.json)
      }),
    )
}

type RevokeOptions = AgentOptions & RevocationOptions

function revokeCommand(): Command {
  const command = agentCommandOf(
    'revoke',
    'Revoke a key permanently; packages accepted before --invalid-from stay verifiable',
    'keys revoke KEY_ID --invalid-from 2026-03-01T08:00:00Z --reason-code compromise --evidence case_7',
  ).argument('<key_id>', 'id of the key')
  return withRevocationOptions(command).action((keyId: string, options: RevokeOptions) =>
    withAgent(options, async (agent) => {
      const key = await agent.revokeKey(keyId, revocationOf(options))
      console.log(options.json ? visibleJson(key) : `${keyId} is ${key.status}`)
    }),
  )
}

function show(keys: readonly OwnKey[], json = false): void {
  if (json) return console.log(visibleJson(snakeCased(keys)))
  const rows = keys.map(({ role, stage, keyId, createdAt }) => ({
    role,
    stage,
    created_at: createdAt,
    key_id: keyId,
  }))
  console.log(table(rows, ['role', 'stage', 'created_at', 'key_id']))
}
