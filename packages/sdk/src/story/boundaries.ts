import { dayAfter } from './deadline.ts'
import { isOf, type CountedPackage } from './readable-package.ts'
import type { Handling, Quote, Source, ThreadStory } from './story-types.ts'

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
  // Of two policies with one id, the later one counts. Another company's policy says nothing about this one's content.
  const policies = new Map(
    counted
      .filter(isOf('policy_envelope'))
      .map(({ object, source }) => [policyKey(source, object.policy_id), object.model_use]),
  )
  return counted.filter(isOf('reasoning_package')).map(({ object, source, quote }) => {
    const {
      retention_days: retentionDays,
      forwarding_allowed: forwardingAllowed,
      disclosure_level,
    } = object.boundaries
    const keepUntil = dayAfter(source.at, retentionDays)
    const modelUse = policies.get(policyKey(source, object.policy_envelope.policy_id))
    return {
      source,
      retentionDays,
      forwardingAllowed,
      disclosureLevel: quote(disclosure_level),
      ...(keepUntil !== undefined && { keepUntil }),
      ...(modelUse && { modelUse }),
    }
  })
}

function policyKey({ by }: Source, policyId: string): string {
  return JSON.stringify([by.organizationId, policyId])
}
