import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import {
  isConnectorFailure,
  type AcquireRequest,
  type CounterParty,
  type DataSpaceConnector,
} from './data-space-connector.ts'

/**
 * The agent's data space: its connector, and the participant ids of other organizations, which the exchange does not
 * publish.
 *
 * @example
 * const dataSpace: DataSpace = {
 *   connector,
 *   participant: async (organizationId) => participants[organizationId],
 * }
 */
export interface DataSpace {
  readonly connector: DataSpaceConnector
  participant(organizationId: string): Promise<CounterParty | undefined>
  /** Decides whether the organization agrees to the terms of an offer. */
  readonly acceptTerms?: AcquireRequest['acceptTerms']
}

/** The other organization's participant, which publishing and fetching need. */
export async function requireParticipant(
  dataSpace: DataSpace,
  organizationId: string,
): Promise<CounterParty> {
  const participant = await dataSpace.participant(organizationId)
  if (participant) return participant
  const what = 'The organization is not known in the data space.'
  throw new ExchangeError('connector_missing', { what, details: { organizationId } })
}

/** Connector codes with an error code of their own; all others become `connector_failed`. */
const CODES: Readonly<Record<string, ExchangeErrorCode>> = {
  withdrawn: 'content_unavailable',
  too_large: 'content_too_large',
  aborted: 'aborted',
}

/** Reports a connector failure as an ExchangeError whose cause is the connector's own error, with states and ids. */
export async function viaConnector<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isConnectorFailure(error)) throw error
    throw new ExchangeError(CODES[error.code] ?? 'connector_failed', {
      what: `The connector says ${error.code}.`,
      retryable: error.retryable,
      cause: error,
    })
  }
}
