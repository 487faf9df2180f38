import { isEarlier } from '@agent-exchange/protocol'
import { leadQuote, type StoryPackage } from './readable-package.ts'
import type { ConversationEntry } from './story-types.ts'

/** Every package, newest first: revoked and unreadable ones too. */
export function conversationOf(
  packages: readonly StoryPackage[],
  { reader, now }: { readonly reader: string; readonly now: Date },
): readonly ConversationEntry[] {
  return packages.map((each) => entryOf(each, reader, now)).toReversed()
}

function entryOf(each: StoryPackage, reader: string, now: Date): ConversationEntry {
  const { record, object, unreadable, isRevoked } = each
  const lead = leadQuote(each)
  const author = object && {
    organizationId: object.created_by.organization_id,
    agentId: object.created_by.agent_id,
  }
  const isPassedOn =
    author?.organizationId !== record.sentBy.organizationId || author.agentId !== record.sentBy.agentId
  return {
    packageId: record.packageId,
    sentBy: record.sentBy,
    sentTo: record.sentTo,
    at: record.sentAt,
    state: record.state,
    isReaders: record.sentBy.organizationId === reader,
    isRevoked,
    isExpired: isEarlier(record.expiresAt, now.toISOString()) ?? false,
    ...(record.expiresAt !== undefined && { expiresAt: record.expiresAt }),
    ...(record.respondsTo !== undefined && { respondsTo: record.respondsTo }),
    ...(object && { objectType: object.object_type }),
    ...(lead && { lead }),
    actions: object?.object_type === 'response_object' && !isRevoked ? object.response_actions : [],
    ...(author && isPassedOn && { writtenBy: author }),
    ...(unreadable && { unreadable }),
  }
}
