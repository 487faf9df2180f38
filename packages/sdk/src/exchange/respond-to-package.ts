import type { PackageMetadata, ProtocolObject } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { packageIdFor } from './package-id.ts'
import { sendDraft } from './send-draft.ts'
import type { AgentAddress, Draft, RespondInput, SendDependencies, SentPackage } from './send-input.ts'
import { validInput } from './valid-input.ts'

/**
 * PKG-09: responds to a package with a new package in the same thread, from the recipient's organization to the
 * sender's. The steps are those of {@link sendPackage}, under the responder's own policy. The exchange decides whether
 * an agent may respond for another agent of its organization (O-46). A response can have a response.
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
  return sendDraft(context, await draftOfResponse(context, packageId, input, deps.signal), deps)
}

/** Validates the input, reads the package that it responds to, and resolves recipient and thread. */
export async function draftOfResponse(
  context: AgentContext,
  packageId: string,
  input: RespondInput,
  signal?: AbortSignal,
): Promise<Draft> {
  await context.deployment.refresh()
  const { object, policy } = validInput(context, input)
  if ((object as ProtocolObject).object_type !== 'response_object')
    throw new ExchangeError('object_invalid', { what: 'A response holds a response_object.' })
  const { metadata, thread_id: threadId } = await context.connection.call('getPackage', {
    path: { package_id: packageId },
    ...(signal && { signal }),
  })
  if (metadata.recipient_org_id !== context.identity.organizationId)
    throw new ExchangeError('package_not_for_us', {
      what: "Only the recipient's organization answers a package.",
      details: { packageId },
    })
  const to = answeredAgent(metadata, input.to)
  // O-35: we write the first of the accepted content types.
  const [contentType = metadata.content_type] = context.deployment.profile['O-35'].content_types
  return {
    ...input,
    packageId: await packageIdFor(context.identity, object, to),
    object,
    policy,
    to,
    threadId,
    contentType,
    respondsTo: packageId,
  }
}

/** The recipient of the response: the sending agent, or the given agent of its organization. */
function answeredAgent(metadata: PackageMetadata, given: AgentAddress | undefined): AgentAddress {
  const sender = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }
  if (given && given.organizationId !== sender.organizationId)
    throw new ExchangeError('input_invalid', {
      what: 'A response must go to an agent of the organization that sent the package.',
      details: { organizationId: sender.organizationId },
    })
  return given ?? sender
}
