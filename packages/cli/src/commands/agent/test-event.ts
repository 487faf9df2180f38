import { PACKAGE_STATES, PROTOCOL_VERSION, type NotificationEnvelope } from '@agent-exchange/protocol'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { Argument, type Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { sendTestWebhook } from '../../agent/test-webhooks.ts'
import { CommandFailure } from '../../failure.ts'
import { visibleJson } from '../../visible.ts'

interface TestEventOptions extends AgentOptions {
  readonly package?: string
  readonly thread?: string
  readonly forge?: boolean
}

const EVENTS = PACKAGE_STATES.map((state) => `package.${state}`)
const ACCEPTED = 204
/** Digest of no bytes: a test event has no content. */
const NO_CONTENT = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'

export function agentTestEventCommand(): Command {
  return folderCommandOf(
    'test-event',
    'Send a test event to `aex agent listen --test`, signed with a key that only it accepts',
    'test-event package.accepted',
    'test-event package.received --package pkg_1 --thread thread_1',
    'test-event package.accepted --forge      (a wrong signature, to see the refusal)',
  )
    .addArgument(new Argument('<event>', 'type of the event').choices(EVENTS))
    .option('--package <package_id>', 'package of the event (default: a new id)')
    .option('--thread <thread_id>', 'its thread (default: a new id)')
    .option('--forge', 'sign with a wrong key')
    .action(sendTestEvent)
}

async function sendTestEvent(type: string, options: TestEventOptions): Promise<void> {
  const { dir, forge = false } = options
  const { identity } = await explained(options, () => openAgentFolder(dir))
  const now = new Date()
  const id = crypto.randomUUID()
  const event: NotificationEnvelope = {
    notification_id: `ntf_test_${id}`,
    event_id: `evt_test_${id}`,
    event_type: type,
    protocol_version: PROTOCOL_VERSION,
    sequence: now.getTime(),
    occurred_at: now.toISOString(),
    organization_id: identity.organizationId,
    package_id: options.package ?? `pkg_test_${id}`,
    thread_id: options.thread ?? `thread_test_${id}`,
    state: PACKAGE_STATES.find((state) => type === `package.${state}`) ?? 'accepted',
    transport_mode: 'native',
    content_digest: NO_CONTENT,
    correlation_id: `corr_test_${id}`,
  }
  const status = await sendTestWebhook({ dir, event, forge })
  if (options.json) console.log(visibleJson({ status, event }))
  else console.log(`${event.event_id}: the listener answered with ${status}`)
  if (status !== ACCEPTED) throw new CommandFailure('The listener refused the event and printed why.')
}
