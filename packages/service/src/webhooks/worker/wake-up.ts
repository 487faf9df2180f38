import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type Database, loggableError } from '@agent-exchange/database'
import { DELIVERY_CHANNEL, readOrganizationCall } from '../queue/delivery-channel.ts'

const PROBE = 'probe:'

export interface WakeUp extends AsyncDisposable {
  /** Sends a notification to itself; reconnects if the previous one never arrived. Call it at intervals. */
  probe(): Promise<void>
}

export interface WakeUpSettings {
  readonly db: Database
  /** Opens a connection for LISTEN. */
  readonly openListener: () => Database
  readonly log: Logger
  /** Empty: any endpoint may have due deliveries. */
  readonly onWake: (endpointIds: readonly string[]) => void
  readonly onOrganization: (organizationId: string, status: 'active' | 'suspended') => void
}

/**
 * Receives wake-ups for new deliveries by LISTEN. A broken connection may go unnoticed and notifications are lost
 * meanwhile, so the connection is probed; callers must also sweep the database at intervals.
 */
export function listenForDeliveries(settings: WakeUpSettings): WakeUp {
  const { db, openListener, log, onWake, onOrganization } = settings
  const own = `${PROBE}${randomBytes(8).toString('hex')}`
  let isProbeAnswered = true
  let listener: Database | undefined

  function onMessage(payload: string): void {
    const organization = readOrganizationCall(payload)
    if (payload === own) isProbeAnswered = true
    else if (organization) onOrganization(organization.organizationId, organization.status)
    else if (!payload.startsWith(PROBE)) onWake(payload === '' ? [] : payload.split(' '))
  }

  async function listen(): Promise<void> {
    const previous = listener
    const next = openListener()
    listener = next
    await previous?.end({ timeout: 0 })
    // Notifications may have been missed before LISTEN took effect.
    await next.listen(DELIVERY_CHANNEL, onMessage, () => onWake([]))
    isProbeAnswered = true
  }

  const logFailure = (error: unknown) =>
    log.warn({ err: loggableError(error) }, 'cannot listen for delivery notifications')
  const started = listen().catch(logFailure)

  return {
    async probe() {
      try {
        if (!isProbeAnswered) await listen()
        isProbeAnswered = false
        await db`select pg_notify(${DELIVERY_CHANNEL}, ${own})`
      } catch (error) {
        logFailure(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await started
      await listener?.end({ timeout: 0 })
    },
  }
}
