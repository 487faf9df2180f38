import { recordedChange, type OpenGateway } from '@agent-exchange/gateway'
import { actorOf } from './actor.ts'

type Recorded<T> = Parameters<typeof recordedChange<T>>

/** A change by command, with its entry in the administration record. */
export const recorded = <T>(
  { db, now }: OpenGateway,
  work: Recorded<T>[2],
  entryOf: Recorded<T>[3],
): Promise<T> => recordedChange(db, { actor: actorOf(), now: now() }, work, entryOf)
