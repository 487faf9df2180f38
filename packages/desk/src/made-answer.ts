import { randomBytes } from 'node:crypto'
import type { JsonObject, PolicyEnvelope, ProtocolObject, ResponseObject } from '@agent-exchange/protocol'
import type { Identity } from '@agent-exchange/sdk'
import { makersOf } from '@agent-exchange/sdk/internal'
import { TASKS, type AnswerSubject, type AnswerTaskId } from './answer-tasks.ts'
import { membersFrom, objectOf } from './form-members.ts'

export interface AnswerTerms {
  readonly task: AnswerTaskId
  readonly by: Identity
  readonly now: Date
  readonly policy: PolicyEnvelope
  readonly answered: {
    readonly packageId: string
    readonly threadId: string
    readonly object: ProtocolObject
  }
  readonly subject: AnswerSubject
  readonly newId?: (member: string) => string
}

/** The response that the fields of a form describe, made by the maker that programs use. */
export function answerFrom(fields: URLSearchParams, terms: AnswerTerms): ResponseObject {
  const { task, by, now, policy, answered, subject, newId = randomId } = terms
  const { parts, content } = TASKS[task]
  const members = membersFrom(parts(subject), fields, newId)
  const { packageId, threadId, object } = answered
  return makersOf(() => ({ by, now, policy })).responseObject({
    to: { packageId, threadId, objectId: object.id },
    ...content(members, subject),
    boundaries: boundariesOf(policy, objectOf(members['boundaries'])),
  })
}

/** What is disclosed is as detailed as the policy permits. */
function boundariesOf(policy: PolicyEnvelope, given: JsonObject): ResponseObject['boundaries'] {
  return { disclosure_level: policy.granularity.level, not_disclosed: [], ...given }
}

export function randomId(member: string): string {
  return `${member.replace(/_id$/u, '')}_${randomBytes(16).toString('hex')}`
}
