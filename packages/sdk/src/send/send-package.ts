import { MEDIA_TYPE, type ProtocolObject } from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentAddress, AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { packageIdFor } from './package-id.ts'
import { readThread } from '../connection/read-thread.ts'
import { sendDraft } from './send-draft.ts'
import type { Draft, SendableObject, SendDependencies, SendInput, SentPackage } from './send-input.ts'
import { validInput } from './valid-input.ts'

/**
 * Sends one object to one agent: validates it, evaluates the five policy checks, requests an approval if required,
 * signs the policy receipt, seals for both parties, signs, and submits receipt and package. The sealed package is in
 * the outbox before the first request. Repeating the call, or {@link resumeOutbox} after a crash, never creates a
 * second package.
 *
 * @example
 * const { packageId } = await sendPackage(
 *   context,
 *   { object, policy, to: { organizationId: 'org_cars', agentId: 'agent_cars' }, skill: { id: 'skill_a', version: '1.0.0' } },
 *   { outbox: createMemoryOutbox(), onProgress: ({ step }) => console.log(step) },
 * )
 */
export async function sendPackage(
  context: AgentContext,
  input: SendInput,
  deps: SendDependencies,
): Promise<SentPackage> {
  return sendDraft(context, await draftOfPackage(context, input), deps)
}

/** Validates the input and resolves recipient, thread and package id. */
export async function draftOfPackage(context: AgentContext, input: SendInput): Promise<Draft> {
  const { to: given, threadId: givenThread, ...terms } = input
  await context.deployment.refresh()
  const { object, policy } = validInput(context, input)
  if ((object as ProtocolObject).object_type === 'response_object')
    throw new ExchangeError('object_invalid', { what: 'Send a response with respondToPackage.' })
  const threadId = object.object_type === 'policy_envelope' ? givenThread : object.thread_id
  const to = given ?? (await recipientInThread(context, object))
  return {
    ...terms,
    packageId: await packageIdFor(context.identity, object, to),
    object,
    policy,
    threadId: threadId ?? randomId('thread'),
    to,
    contentType: MEDIA_TYPE.reasoningPackage,
  }
}

/** An object names organizations, not agents: takes the agent from the latest package of the thread. */
async function recipientInThread(context: AgentContext, object: SendableObject): Promise<AgentAddress> {
  let found: AgentAddress | undefined
  if (object.object_type === 'reasoning_package') {
    const addressed = new Set(object.recipients.map(({ organization_id }) => organization_id))
    for await (const { packages } of readThread(context, object.thread_id, { missing: 'empty' })) {
      for (const { metadata } of packages) {
        const parties = [
          { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id },
          { organizationId: metadata.recipient_org_id, agentId: metadata.recipient_agent_id },
        ]
        found =
          parties.find(
            ({ organizationId, agentId }) =>
              addressed.has(organizationId) && agentId !== context.identity.agentId,
          ) ?? found
      }
    }
  }
  if (found) return found
  throw new ExchangeError('object_invalid', {
    what: 'Name the recipient agent in `to`: the thread has no package with any of the recipients yet.',
  })
}
