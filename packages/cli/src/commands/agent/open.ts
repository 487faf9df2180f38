import type { OpenedPackage } from '@agent-exchange/sdk'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { writeContent } from '../../agent/content-file.ts'
import { isForPeople } from '../../agent/for-people.ts'
import { nextStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { objectLines } from '../../object-text.ts'
import { visible, visibleJson } from '../../visible.ts'
import { requireWritable } from '../../writable-file.ts'

interface OpenOptions extends AgentOptions {
  readonly out?: string
  readonly receipts: boolean
}

export function agentOpenCommand(): Command {
  return agentCommandOf(
    'open',
    'Fetch a package, verify and open it, and send the signed receipts',
    'open pkg_1                          (for people on a terminal, the object as JSON elsewhere)',
    'open pkg_1 --out capacity.json',
    'open pkg_1 --no-receipts',
    'open pkg_1 --json       (the object with who signed it and the receipts that were sent)',
  )
    .argument('<package_id>', 'the package')
    .option('--out <file>', 'write the object there, for its owner alone, instead of to standard output')
    .option('--no-receipts', 'send no receipts')
    .action(open)
}

async function open(packageId: string, options: OpenOptions): Promise<void> {
  if (options.out !== undefined) requireWritable(options.out, 'The content')
  const receipts = options.receipts ? 'opened' : 'none'
  const { opened, isOurs } = await withAgent(options, async (agent) => {
    const found = await agent.open(packageId, { receipts })
    return { opened: found, isOurs: found.metadata.sender_agent_id === agent.identity.agentId }
  })
  if (!options.json) describe(opened)
  if (options.out !== undefined) {
    writeContent(options.out, visibleJson(opened.object))
    console.error(`  wrote     ${options.out}`)
  }
  if (options.json) return console.log(visibleJson(documentOf(opened, options)))
  if (options.out !== undefined) return
  console.log(isForPeople(options) ? forPeople(opened, isOurs, options) : visibleJson(opened.object))
}

/** The content, and what to do next. */
function forPeople({ object, ids, metadata }: OpenedPackage, isOurs: boolean, options: OpenOptions): string {
  const step = (...words: string[]) => nextStep(options, ...words)
  return [
    '',
    ...objectLines(object),
    '',
    ...(isOurs ? [] : [`  answer   ${step('respond', ids.package, 'FILE')}`]),
    `  thread   ${step('thread', metadata.thread_id)}`,
    `  as JSON  ${step('open', ids.package, '--json')}`,
  ].join('\n')
}

/** Printed to standard error: standard output is for the object. */
function describe(opened: OpenedPackage): void {
  const { metadata, ids, createdAt, writtenBy, sentBy, senderKey, acceptedAt, receipts } = opened
  console.error(`  from      ${metadata.sender_agent_id} of ${metadata.sender_org_id}`)
  if (writtenBy.organizationId !== sentBy.organizationId || writtenBy.agentId !== sentBy.agentId)
    console.error(
      visible(`  author    ${writtenBy.agentId} of ${writtenBy.organizationId}, by the object itself`),
    )
  console.error(`  signed    ${visible(senderKey.keyId)}, verified`)
  console.error(`  accepted  ${acceptedAt}`)
  if (ids.object !== ids.package) console.error(`  object    ${visible(ids.object)}, in ${ids.package}`)
  if (createdAt.object !== createdAt.package)
    console.error(`  written   ${createdAt.object}, sealed ${createdAt.package}`)
  for (const { state } of receipts) console.error(`  receipt   ${state}, signed`)
}

/** Omits content that was written to a file. */
function documentOf(
  { object, ids, createdAt, writtenBy, metadata, senderKey, acceptedAt, receipts }: OpenedPackage,
  { out }: OpenOptions,
) {
  return {
    package_id: ids.package,
    object_id: ids.object,
    package_created_at: createdAt.package,
    object_created_at: createdAt.object,
    written_by: snakeCased(writtenBy),
    ...(out === undefined ? { object } : { file: out }),
    metadata,
    sender_key_id: senderKey.keyId,
    sender_key_fingerprint: senderKey.fingerprint,
    accepted_at: acceptedAt,
    receipts,
  }
}
