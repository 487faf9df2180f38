import { dayAfter } from './deadline.ts'
import { isOf, type CountedPackage } from './readable-package.ts'
import type { Handling, Quote, ThreadStory } from './story-types.ts'

/** What each company says that it does not disclose, each text once. */
export function notDisclosed(counted: readonly CountedPackage[]): ThreadStory['notDisclosed'] {
  const byCompany = new Map<string, Map<string, Quote>>()
  for (const each of counted) {
    const { object, quote, source } = each
    if (object.object_type !== 'reasoning_package' && object.object_type !== 'response_object') continue
    const id = source.by.organizationId
    const known = byCompany.get(id) ?? new Map<string, Quote>()
    for (const text of object.boundaries.not_disclosed) known.set(text, known.get(text) ?? quote(text))
    if (known.size > 0) byCompany.set(id, known)
  }
  return [...byCompany].map(([organizationId, items]) => ({ organizationId, items: [...items.values()] }))
}

/** Retention and forwarding as senders ask for them. Nothing proves that a recipient obeys. */
export function handlingOf(counted: readonly CountedPackage[]): readonly Handling[] {
  return counted.filter(isOf('reasoning_package')).map(({ object, source }) => {
    const { retention_days: retentionDays, forwarding_allowed: forwardingAllowed } = object.boundaries
    const keepUntil = dayAfter(source.at, retentionDays)
    return { source, retentionDays, forwardingAllowed, ...(keepUntil !== undefined && { keepUntil }) }
  })
}
