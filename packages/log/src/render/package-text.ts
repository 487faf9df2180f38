import type { PackageStory, SignedStatement } from '../capsule/capsule-result.ts'
import { organizationText, type Reader } from './reader.ts'
import { dayText, isSameDay, timeText } from './time-text.ts'

/** What was signed last: the strongest fact about a package. */
export function packageClause(story: PackageStory, subject: string, reader: Reader): string {
  const { from, to, acceptedAt, signed } = story
  const on = acceptedAt === undefined ? '' : ` on ${dayText(acceptedAt, reader)}`
  const sent = `${organizationText(from.organizationId, reader)} sent ${subject} to ${organizationText(to.organizationId, reader)}${on}`
  const last = lastOf(signed)
  if (!last) return `${sent}; nobody signed that it arrived`
  const when =
    acceptedAt !== undefined && isSameDay(acceptedAt, last.at, reader)
      ? 'the same day'
      : `on ${dayText(last.at, reader)}`
  return `${sent}; ${organizationText(last.by.organizationId, reader)} signed that it ${VERBS[last.kind] ?? last.kind} it ${when}`
}

const VERBS: Record<string, string | undefined> = {
  received: 'received',
  opened: 'opened',
  rejected: 'rejected',
  failed: 'failed to open',
  revoked: 'revoked',
}

/** A revocation is what counts; otherwise the last receipt. */
function lastOf(signed: readonly SignedStatement[]): SignedStatement | undefined {
  return signed.find(({ kind }) => kind === 'revoked') ?? signed.at(-1)
}

/** One package in full, with all times. */
export function packageText(story: PackageStory, reader: Reader): string {
  const { packageId, from, to, acceptedAt, respondsTo, signed, state, signedState } = story
  const answers = respondsTo === undefined ? '' : ` in response to ${respondsTo}`
  const accepted =
    acceptedAt === undefined ? '' : `; the exchange accepted it on ${timeText(acceptedAt, reader)}`
  const statements = signed.map(
    ({ kind, by, at }) => `; ${by.agentId} signed “${kind}” on ${timeText(at, reader)}`,
  )
  const beyond =
    state === undefined || state === signedState
      ? ''
      : `; only the exchange says that it is ${state.replaceAll('_', ' ')}`
  return (
    `${packageId}: ${from.agentId} of ${organizationText(from.organizationId, reader)} to ${to.agentId} of ` +
    `${organizationText(to.organizationId, reader)}${answers}${accepted}${statements.join('')}${beyond}.`
  )
}
