import type { PackageMetadata, ProtocolObject, ResponseObject } from '@agent-exchange/protocol'
import type { AgentAddress, AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { answerableId, answerDifferences, isAnswerable } from '../objects/answered-id.ts'
import { readObjectId } from '../open/open-package.ts'
import { packageIdFor } from './package-id.ts'
import { sendDraft } from './send-draft.ts'
import type { Draft, RespondInput, SendDependencies, SentPackage } from './send-input.ts'
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
  const { object: given, policy } = validInput(context, input)
  if ((given as ProtocolObject).object_type !== 'response_object')
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
  const object = await namingAnswered(context, given, packageId, input.answeredObjectId)
  const to = answeredAgent(metadata, input.to)
  // O-35: we write the first of the accepted content types.
  const [contentType = metadata.content_type] = context.deployment.profile['O-35'].content_types
  const { answeredObjectId: _, ...terms } = input
  return {
    ...terms,
    packageId: await packageIdFor(context.identity, object, to),
    object,
    policy,
    to,
    threadId,
    contentType,
    respondsTo: packageId,
  }
}

/**
 * PKG-09: a response to a package whose id cannot stand in a response_object names the object inside. The response is
 * changed before its checks and its approval.
 */
async function namingAnswered(
  context: AgentContext,
  response: ResponseObject,
  packageId: string,
  known: string | undefined,
): Promise<ResponseObject> {
  const read = async () => known ?? readObjectId(context, packageId)
  const isPlaceholder =
    !isAnswerable(packageId) && response.responds_to_package_id === answerableId(packageId)
  if (isPlaceholder) return { ...response, responds_to_package_id: answerableId(packageId, await read()) }
  const members = await answerDifferences(response, packageId, read)
  if (members.length === 0) return response
  throw new ExchangeError('object_invalid', {
    failures: members.map((pointer) => ({
      pointer,
      rule: 'PKG-09',
      message: 'Name the package that it answers, or the object inside that package.',
    })),
  })
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
