import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { loggableError } from '../db/loggable-error.ts'
import { DELIVERY_CHANNEL, readOrganizationCall } from '../features/notifications/delivery-channel.ts'

const PROBE = 'probe:'

export interface WakeUp extends AsyncDisposable {
  /** Asks whether it still hears; listens anew where the last question was never heard. Call it now and then. */
  probe(): Promise<void>
}

export interface WakeUpSettings {
  readonly db: Database
  /** A connection to listen on. */
  readonly openListener: () => Database
  readonly log: Logger
  /** Empty: look everywhere. */
  readonly onWake: (endpointIds: readonly string[]) => void
  readonly onOrganization: (organizationId: string, status: 'active' | 'suspended') => void
}

/**
 * Hears of new deliveries by LISTEN. A listening connection that ended may not say so, and while it is away calls are
 * lost: so it is probed with a call of our own, and whoever uses it looks into the database now and then all the same.
 */
export function listenForDeliveries(settings: WakeUpSettings): WakeUp {
  const { db, openListener, log, onWake, onOrganization } = settings
  const own = `${PROBE}${randomBytes(8).toString('hex')}`
  let isHeard = true
  let listener: Database | undefined

  function onMessage(payload: string): void {
    const organization = readOrganizationCall(payload)
    if (payload === own) isHeard = true
    else if (organization) onOrganization(organization.organizationId, organization.status)
    else if (!payload.startsWith(PROBE)) onWake(payload === '' ? [] : payload.split(' '))
  }

  async function listen(): Promise<void> {
    const former = listener
    const next = openListener()
    listener = next
    await former?.end({ timeout: 0 })
    // Each time it begins to listen, something may have been missed.
    await next.listen(DELIVERY_CHANNEL, onMessage, () => onWake([]))
    isHeard = true
  }

  const failed = (error: unknown) =>
    log.warn({ err: loggableError(error) }, 'cannot listen for deliveries now')
  const started = listen().catch(failed)

  return {
    async probe() {
      try {
        if (!isHeard) await listen()
        isHeard = false
        await db`select pg_notify(${DELIVERY_CHANNEL}, ${own})`
      } catch (error) {
        failed(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await started
      await listener?.end({ timeout: 0 })
    },
  }
}
