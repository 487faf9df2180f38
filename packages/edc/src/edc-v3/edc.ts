import type { Dispatcher } from 'undici'
import type { ContractCondition } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import type { DataAddressHost } from '../data-address.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'
import { idOf, isNode, nodeList, type Node } from './json-ld-reader.ts'
import type { ManagementClient } from './management-client.ts'
import { REQUEST_CONTEXT } from './vocabulary.ts'

/** Shared state of the operations on one connector. */
export interface Edc {
  readonly client: ManagementClient
  /** For the version API and our own protocol endpoint: no credentials of the management API. */
  readonly dispatcher: Dispatcher
  /** For data planes of senders, whose addresses the senders choose. */
  readonly dataPlanes: Dispatcher
  readonly connectorId: string
  readonly participantId: string
  readonly protocol: string
  readonly dataAddress: DataAddressHost | undefined
  readonly protocolEndpoint: URL | undefined
  readonly versionUrl: URL | undefined
  readonly accessCondition: (recipientParticipantId: string) => ContractCondition
  readonly allowDataPlane: (endpoint: URL) => boolean
}

export interface Criterion {
  readonly operandLeft: string
  readonly operandRight: string
}

/** A query of the management API, newest first, bounded. */
export async function query(edc: Edc, kind: string, criteria: readonly Criterion[], scope: WaitScope) {
  const { body } = await edc.client.call(
    {
      method: 'POST',
      path: `/v3/${kind}/request`,
      repeatable: true,
      body: {
        '@context': REQUEST_CONTEXT,
        '@type': 'QuerySpec',
        filterExpression: criteria.map((criterion) => ({
          '@type': 'Criterion',
          operator: '=',
          ...criterion,
        })),
        ...(kind !== 'contractagreements' && { sortField: 'createdAt', sortOrder: 'DESC' }),
        limit: LIMITS.processes,
      },
    },
    scope,
  )
  if (body !== undefined && !Array.isArray(body) && !isNode(body)) throw unreadable(`the query of ${kind}`)
  return nodeList(body)
}

/** The id in the response to a creation. */
export function createdId(body: unknown, what: string): string {
  const id = isNode(body) ? idOf(body) : undefined
  if (id === undefined || id === '') throw unreadable(what)
  return id
}

export function requireNode(body: unknown, what: string): Node {
  if (isNode(body)) return body
  throw unreadable(what)
}

export function unreadable(what: string): ConnectorError {
  return new ConnectorError('bad_answer', { what: `The answer to ${what} cannot be read.` })
}
