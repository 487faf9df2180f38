import { PROTOCOL_VERSION, validateObject, type ProtocolObject } from '@agent-exchange/protocol'
import { leadOf } from '../objects/object-outline.ts'
import type { ThreadPackage } from './story-input.ts'
import type { Quote, Source, UnreadableReason } from './story-types.ts'

/** A package with its validated object, or why it cannot be read. */
export interface StoryPackage {
  readonly record: ThreadPackage
  readonly object?: ProtocolObject
  readonly unreadable?: { readonly reason: UnreadableReason; readonly detail?: string }
  readonly isRevoked: boolean
  readonly source: Source
  quote(text: string): Quote
}

/** A package whose statements count: readable, and not revoked. */
export interface CountedPackage<Type extends ProtocolObject = ProtocolObject> extends StoryPackage {
  readonly object: Type
}

/** Quoted versions and types are shortened. */
const MAXIMUM_DETAIL = 60

export function readPackage(record: ThreadPackage, reader: string): StoryPackage {
  const { packageId, sentBy, sentAt, state } = record
  const by = sentBy.organizationId
  return {
    record,
    ...contentOf(record),
    isRevoked: state === 'revoked',
    source: { packageId, by: sentBy, at: sentAt },
    quote: (text) => ({ text, by, isReaders: by === reader }),
  }
}

export function isCounted(each: StoryPackage): each is CountedPackage {
  return each.object !== undefined && !each.isRevoked
}

export function isOf<Type extends ProtocolObject['object_type']>(type: Type) {
  return (each: CountedPackage): each is CountedPackage<Extract<ProtocolObject, { object_type: Type }>> =>
    each.object.object_type === type
}

/** The sentence that says what a package is about; none of a revoked or unreadable one. */
export function leadQuote(each: StoryPackage): Quote | undefined {
  return isCounted(each) ? each.quote(leadOf(each.object)) : undefined
}

function contentOf({ content }: ThreadPackage): Pick<StoryPackage, 'object' | 'unreadable'> {
  if ('missing' in content)
    return {
      unreadable: { reason: content.missing, ...('code' in content && { detail: content.code }) },
    }
  const read = validateObject(content.object)
  if (read.valid) return { object: read.object }
  const version = memberText(content.object, 'protocol_version')
  if (version !== undefined && version !== PROTOCOL_VERSION)
    return { unreadable: { reason: 'unknown_version', detail: version } }
  const type = memberText(content.object, 'object_type')
  if (read.objectType === undefined && type !== undefined)
    return { unreadable: { reason: 'unknown_type', detail: type } }
  return { unreadable: { reason: 'invalid' } }
}

function memberText(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  const member: unknown = Reflect.get(value, name)
  return typeof member === 'string' ? member.slice(0, MAXIMUM_DETAIL) : undefined
}
