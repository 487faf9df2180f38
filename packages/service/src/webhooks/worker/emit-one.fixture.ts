import type { Database } from '@agent-exchange/database'
import { type DeliveryWorld, freshId } from '@agent-exchange/testkit'
import { emitEvents } from '../../features/notifications/emit-events.ts'
import type { DirectClaims } from '../../kernel/direct-claims.ts'

/** Creates one event for the receiving organization, as a process does whose engine reserves these slots. */
export function emitOne(db: Database, made: DeliveryWorld, directClaims: DirectClaims): Promise<void> {
  const event = {
    eventType: 'package.accepted',
    packageId: freshId('pkg'),
    threadId: freshId('thread'),
    state: 'accepted',
    transportMode: 'native',
    contentDigest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    correlationId: freshId('corr'),
    traceparent: undefined,
    occurredAt: made.world.clock.now(),
    organizations: [made.owner.organizationId],
  } as const
  return db.begin(async (tx) => emitEvents(tx, [event], directClaims))
}
