import {
  type Approver,
  approverOf,
  initApprover,
  replaceApprover,
  resetApprover,
} from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { approverPassphrase } from '../../agent/approver-passphrase.ts'
import { folderStep } from '../../agent/next-step.ts'
import { CommandFailure } from '../../failure.ts'
import { visibleJson } from '../../visible.ts'
import { group } from '../operator/operator-command.ts'

interface ApproverOptions extends Pick<AgentOptions, 'dir' | 'json'> {
  readonly newPassphraseFile?: string
  readonly oldPassphraseFile?: string
  readonly everyDraft?: boolean
}

export function agentApproverCommand(): Command {
  return group('approver', 'The person who approves drafts at the desk', [
    initCommand(),
    replaceCommand(),
    resetCommand(),
    showCommand(),
  ])
}

function initCommand(): Command {
  return withNewPassphrase(
    folderCommandOf(
      'init',
      'Make the key of the approver, encrypted by a passphrase that only the person knows',
      'approver init',
      'approver init --every-draft',
    ),
  ).action(async (options: ApproverOptions) => {
    const passphrase = await newPassphrase(options)
    show(
      await explained(options, () => initApprover(options.dir, { passphrase, ...scopeOf(options) })),
      options,
    )
  })
}

function replaceCommand(): Command {
  return withNewPassphrase(
    folderCommandOf(
      'replace',
      'Replace key and passphrase of the approver; needs the old passphrase, keeps decisions',
      'approver replace',
    ),
  )
    .option('--old-passphrase-file <file>', 'file with the old passphrase (default: asked at the terminal)')
    .action(async (options: ApproverOptions) => {
      const old = await approverPassphrase(options.oldPassphraseFile, 'old approver passphrase')
      const passphrase = await newPassphrase(options)
      const replaced = () => replaceApprover(options.dir, old, { passphrase, ...scopeOf(options) })
      show(await explained(options, replaced), options)
    })
}

function resetCommand(): Command {
  return withNewPassphrase(
    folderCommandOf(
      'reset',
      'Replace the approver without the old passphrase; every decision about an open draft becomes void',
      'approver reset',
    ),
  ).action(async (options: ApproverOptions) => {
    const passphrase = await newPassphrase(options)
    const reset = () => resetApprover(options.dir, { passphrase, ...scopeOf(options) })
    show(await explained(options, reset), options)
  })
}

function showCommand(): Command {
  return folderCommandOf('show', 'Show the registered approver; needs no passphrase', 'approver show').action(
    async (options: ApproverOptions) => {
      const approver = await explained(options, () => approverOf(options.dir))
      if (!approver)
        throw new CommandFailure(
          `The folder has no approver. The person who approves runs: ${folderStep(options, 'approver', 'init')}`,
        )
      show(approver, options)
    },
  )
}

function withNewPassphrase(command: Command): Command {
  return command
    .option('--new-passphrase-file <file>', 'file with the new passphrase (default: asked at the terminal)')
    .option('--every-draft', 'every draft needs an approval, whatever its policy says')
}

function newPassphrase({ newPassphraseFile }: ApproverOptions): Promise<string> {
  return approverPassphrase(newPassphraseFile, 'new approver passphrase', { twice: true })
}

function scopeOf({ everyDraft }: ApproverOptions) {
  return everyDraft === true ? { approves: 'every_draft' as const } : {}
}

function show({ keyId, createdAt, approves }: Approver, options: ApproverOptions): void {
  if (options.json) return console.log(visibleJson({ key_id: keyId, created_at: createdAt, approves }))
  console.log(keyId)
  console.log(`  made      ${createdAt}`)
  console.log(`  approves  ${approves === 'policy' ? 'drafts whose policy requires it' : 'every draft'}`)
  console.log(`  desk      ${folderStep(options, 'desk')}`)
}
