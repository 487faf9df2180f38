import type { ResponseObject } from '@agent-exchange/protocol'
import { randomId } from '../connection/random-id.ts'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { answerOnce } from '../send/answer-once.ts'
import type { OpenedPackage } from '../open/open-input.ts'
import type { RespondInput, SendDependencies, SentPackage } from '../send/send-input.ts'
import { makersOf, type ResponseContent } from '../objects/makers.ts'
import { completeTerms, type SendDefaults } from '../send/send-defaults.ts'
import type { Inbox } from './inbox.ts'

/** Content of an answer, with the terms of sending. Missing terms come from the defaults of the agent. */
export type Reply = Omit<ResponseContent, 'to'> &
  Partial<Omit<RespondInput, 'object' | 'to'>> & {
    /** For a further answer to the same package. */
    readonly key?: string
  }

type DeclineTerms = Omit<Reply, 'summary' | 'actions'>

export interface RepliesOptions {
  readonly inbox: Pick<Inbox, 'readValue' | 'writeValue'>
  readonly defaults: SendDefaults
  readonly send: SendDependencies
  readonly approve?: RespondInput['approve']
}

/** The answers of one call of the handler. */
export type Replies = (
  opened: OpenedPackage,
  signal: AbortSignal,
) => {
  reply(reply: Reply): Promise<SentPackage>
  decline(reason: string, reply?: DeclineTerms): Promise<SentPackage>
}

const ONLY_ANSWER = 'answer'
const SEED = 'answer_seed'
const DECLINE: ResponseObject['response_actions'] = ['decline_with_policy']

export function createReplies(context: AgentContext, options: RepliesOptions): Replies {
  const { inbox, defaults, send, approve } = options
  return (opened, signal) => {
    const used = new Set<string>()
    const { metadata } = opened
    const packageId = metadata.package_id
    const to = { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id }

    async function reply({ key = ONLY_ANSWER, ...given }: Reply): Promise<SentPackage> {
      if (used.has(key))
        throw new ExchangeError('input_invalid', {
          what: 'The handler already answered this package. A further answer needs a key of its own.',
          details: { packageId },
        })
      used.add(key)
      const { policy, skill, expiresAt, requireSkillRelease, policySettings, ...rest } = given
      const { approve: ask = approve, ...content } = rest
      const terms = completeTerms({ ...(policy && { policy }), ...(skill && { skill }) }, defaults)
      const object = makersOf(() => ({ by: context.identity, now: context.now() })).responseObject({
        ...content,
        policy: terms.policy,
        to: { packageId, threadId: metadata.thread_id, objectId: opened.ids.object },
      })
      const input = {
        ...terms,
        object,
        to,
        answeredObjectId: opened.ids.object,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(requireSkillRelease !== undefined && { requireSkillRelease }),
        ...(policySettings && { policySettings }),
        ...(ask && { approve: ask }),
      }
      const seed = await seedOf(inbox)
      return answerOnce(context, { packageId, key, seed }, input, { ...send, signal })
    }

    return {
      reply,
      decline: (reason, given = {}) =>
        reply({ policy_decline: { reason }, ...given, summary: reason, actions: DECLINE }),
    }
  }
}

/** Kept in the inbox, so that answers have the same ids after a restart. */
async function seedOf(inbox: RepliesOptions['inbox']): Promise<string> {
  const kept = await inbox.readValue(SEED)
  if (kept !== undefined) return kept
  const fresh = randomId('seed')
  await inbox.writeValue(SEED, fresh)
  return (await inbox.readValue(SEED)) ?? fresh
}
