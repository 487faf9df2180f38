import { ExchangeError } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import type { AnswerSubject } from './answer-tasks.ts'
import type { ReadPackage } from './desk-agent.ts'
import type { DeskCall } from './desk-call.ts'
import { createStoryParts } from './story-parts.ts'
import type { ReadStory } from './story-reader.ts'

/** The package that a person answers, with the story of its thread. */
export interface AnsweredPackage {
  readonly opened: ReadPackage
  readonly read: ReadStory
  readonly subject: AnswerSubject
  readonly policy: PolicyEnvelope
}

const PURPOSE = 'answer of a person at the desk'

/** Only what was opened is answered: reading it here sends no receipt. */
export async function readAnswered({ agent, id, now, stories }: DeskCall): Promise<AnsweredPackage> {
  const opened = await agent.readInFull(id)
  const { metadata, thread_id: threadId } = opened.resource
  if (metadata.recipient_agent_id !== agent.identity.agentId)
    throw new ExchangeError('package_not_for_us', { details: { packageId: id } })
  const [read, names, known] = await Promise.all([
    stories.read(threadId, now),
    agent.names(),
    agent.defaultPolicy(metadata.sender_org_id),
  ])
  const terms = { by: agent.identity, to: metadata.sender_org_id, now }
  const policy = known ?? { ...newObject('policy_envelope', terms), purpose: PURPOSE }
  const { story } = read
  const isOfPackage = ({ source }: { readonly source: { readonly packageId: string } }) =>
    source.packageId === id
  const subject = {
    facts: story.facts.filter(isOfPackage),
    options: story.options.filter(isOfPackage),
    companies: story.companies.filter(({ isReader }) => !isReader),
    nameOf: createStoryParts(story, names).nameOf,
    policy,
  }
  return { opened, read, subject, policy }
}
