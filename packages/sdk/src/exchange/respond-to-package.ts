import type { PackageMetadata, ProtocolObject } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { packageIdFor } from './package-id.ts'
import { sendDraft } from './send-draft.ts'
import type { AgentAddress, RespondInput, SendDependencies, SentPackage } from './send-input.ts'
import { validInput } from './valid-input.ts'

/**
 * PKG-09: answers a package with a package of its own, from the recipient's organization to the sender's, in its
 * thread. The same steps as {@link sendPackage}, under the answering side's own policy. Whether an agent may answer for
 * another agent of its organization is for the exchange to decide (O-46). An answer can be answered in turn.
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
  const { object, policy } = validInput(context, input)
  if ((object as ProtocolObject).object_type !== 'response_object')
    throw new ExchangeError('object_invalid', { what: 'A response holds a response_object.' })
  const { metadata, thread_id: threadId } = await context.connection.call('getPackage', {
    path: { package_id: packageId },
    ...(deps.signal && { signal: deps.signal }),
  })
  if (metadata.recipient_org_id !== context.identity.organizationId)
    throw new ExchangeError('package_not_for_us', {
      what: "Only the recipient's organization answers a package.",
      details: { packageId },
    })
  const to = answeredAgent(metadata, input.to)
  // O-35: the first of the content types is the one that we write.
  const [contentType = metadata.content_type] = context.profile['O-35'].content_types
  const draft = {
    ...input,
    packageId: await packageIdFor(context.identity, object, to),
    object,
    policy,
    to,
    threadId,
    contentType,
    respondsTo: packageId,
  }
  return sendDraft(context, draft, deps)
}

/** Who gets the answer: the sending agent, or the agent of its organization that was named. */
function answeredAgent(metadata: PackageMetadata, given: AgentAddress | undefined): AgentAddress {
  const sender = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  if (given && given.organizationId !== sender.organizationId)
    throw new ExchangeError('input_invalid', {
      what: 'An answer goes to an agent of the organization that sent the package.',
      details: { organizationId: sender.organizationId },
    })
  return given ?? sender
}
