import { ExchangeError } from '../errors.ts'

/** The error for an unknown agent, with the correlation id of the request. */
export function asUnknownPeer(error: unknown, agentId: string): unknown {
  if (!(error instanceof ExchangeError) || error.problem?.code !== 'resource_not_found') return error
  const { correlation_id: correlationId } = error.problem
  return new ExchangeError('peer_unknown', {
    what: `There is no agent "${agentId}" (correlation id ${correlationId}).`,
    details: { agentId, correlationId },
    cause: error,
  })
}
