import { ExchangeError } from '../errors.ts'

/** Where the exchange knows no such agent, an error that names it, with the id under which an operator finds the request. */
export function asUnknownPeer(error: unknown, agentId: string): unknown {
  if (!(error instanceof ExchangeError) || error.problem?.code !== 'resource_not_found') return error
  const { correlation_id: correlationId } = error.problem
  return new ExchangeError('peer_unknown', {
    what: `There is no agent "${agentId}" (correlation id ${correlationId}).`,
    details: { agentId, correlationId },
    cause: error,
  })
}
