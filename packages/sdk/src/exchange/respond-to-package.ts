import type { ProtocolObject } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { requireValid, sendDraft } from './send-draft.ts'
import type { RespondInput, SendDependencies, SentPackage } from './send-input.ts'

/**
 * PKG-09: answers a package with a package of its own, from its recipient to its sender, in its thread. The same
 * steps as {@link sendPackage}, under the answering side's own policy.
 *
 * @example
 * await respondToPackage(context, 'pkg_1', { object: response, policy, skill: { id: 'skill_a', version: '1.0.0' } }, { outbox })
 */
export async function respondToPackage(
  context: AgentContext,
  packageId: string,
  input: RespondInput,
  deps: SendDependencies,
): Promise<SentPackage> {
  requireValid(context, input)
  if ((input.object as ProtocolObject).object_type !== 'response_object')
    throw new ExchangeError('object_invalid', { what: 'A response holds a response_object.' })
  const { metadata, thread_id: threadId } = await context.connection.call('getPackage', {
    path: { package_id: packageId },
    ...(deps.signal && { signal: deps.signal }),
  })
  if (metadata.recipient_agent_id !== context.identity.agentId)
    throw new ExchangeError('package_not_for_us', {
      what: 'Only the recipient of a package answers it.',
      details: { packageId },
    })
  const to = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  // O-35: the first of the content types is the one that we write.
  const [contentType = metadata.content_type] = context.profile['O-35'].content_types
  return sendDraft(context, { ...input, to, threadId, contentType, respondsTo: packageId }, deps)
}
