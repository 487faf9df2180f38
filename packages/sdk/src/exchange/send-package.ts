import { MEDIA_TYPE, type ProtocolObject } from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { packageIdFor } from './package-id.ts'
import { readThread } from './read-thread.ts'
import { sendDraft } from './send-draft.ts'
import type { AgentAddress, SendableObject, SendDependencies, SendInput, SentPackage } from './send-input.ts'
import { validInput } from './valid-input.ts'

/**
 * Sends one object to one agent: validates it, evaluates the five policy checks, asks for an approval where one is
 * required, signs the policy receipt, seals for both sides, signs, and hands both over. What is sealed is in the
 * outbox before the first of the two requests, so calling it again with the same input, or
 * {@link resumeOutbox} after a crash, never makes a second package.
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
  const { to: given, threadId: givenThread, ...terms } = input
  const { object, policy } = validInput(context, input)
  if ((object as ProtocolObject).object_type === 'response_object')
    throw new ExchangeError('object_invalid', { what: 'A response goes by respondToPackage.' })
  const threadId = object.object_type === 'policy_envelope' ? givenThread : object.thread_id
  const to = given ?? (await recipientInThread(context, object))
  return sendDraft(
    context,
    {
      ...terms,
      packageId: await packageIdFor(context.identity, object, to),
      object,
      policy,
      threadId: threadId ?? randomId('thread'),
      to,
      contentType: MEDIA_TYPE.reasoningPackage,
    },
    deps,
  )
}

/** Objects name organizations, not agents: the thread knows which agent of theirs we talk to, the latest first. */
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
    what: 'Say in `to` which agent gets it: the thread has no package with any of its recipients yet.',
  })
}
