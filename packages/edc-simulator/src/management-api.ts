import { PULL } from '@agent-exchange/edc/management-api'
import { negotiationRoutes } from './management-negotiations.ts'
import { publicationRoutes } from './management-publications.ts'
import { transferRoutes } from './management-transfers.ts'
import type { ParticipantState } from './participant-state.ts'
import type { Route } from './routing.ts'
import { written } from './written.ts'

/** The part of EDC's management API v3 that carries packages. */
export function managementRoutes(state: ParticipantState): readonly Route[] {
  const plane = {
    url: `${state.base}/control/v1/dataflows`,
    allowedSourceTypes: 'HttpData',
    allowedTransferTypes: [PULL, 'HttpData-PUSH'],
    state: 'AVAILABLE',
  }
  return [
    ...publicationRoutes(state),
    ...negotiationRoutes(state),
    ...transferRoutes(state),
    {
      method: 'GET',
      path: '/management/v3/dataplanes',
      handle: () => ({
        status: 200,
        body: [written('DataPlaneInstance', `${state.participantId}-plane`, plane)],
      }),
    },
  ]
}

export const versionRoute: Route = {
  method: 'GET',
  path: '/version/v1/version',
  handle: () => ({
    status: 200,
    body: { management: [{ version: '3.1.0', urlPath: '/v3', maturity: 'stable' }] },
  }),
}
