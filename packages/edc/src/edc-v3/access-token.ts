import { requireAddress } from '../connector-addresses.ts'
import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'
import { NOT_PUBLIC } from './dispatcher.ts'
import type { Edc } from './edc.ts'
import { isNode, textOf } from './json-ld-reader.ts'
import { getProcess } from './process.ts'
import { phaseOf } from './transfer.ts'

/** Address and token of the bytes. Never leaves this folder. */
export interface DataAccess {
  readonly endpoint: URL
  readonly token: string
}

/**
 * The token of a transfer, refreshed by the connector if it can. Undefined after the end of the transfer. The token may
 * arrive later than the state.
 */
export async function dataAccess(
  edc: Edc,
  transferProcessId: string,
  scope: WaitScope,
): Promise<DataAccess | undefined> {
  // Tractus-X refreshes only with this parameter; EDC ignores it.
  const path = `/v3/edrs/${encodeURIComponent(transferProcessId)}/dataaddress?auto_refresh=true`
  const patience = scope.clock.now() + LIMITS.tokenLagMs
  for (let attempt = 0; ; attempt++) {
    const { status, body } = await edc.client.call({ method: 'GET', path, expect: [404] }, scope)
    if (status !== 404) return readAccess(edc, body, transferProcessId)
    const process = await getProcess(edc, 'transferprocesses', transferProcessId, scope)
    if (!process || phaseOf(process.state) === 'ended') return undefined
    if (scope.clock.now() > patience || !(await scope.backOff(attempt)))
      throw new ConnectorError('transfer_timeout', {
        transferProcessId,
        state: process.state,
        what: 'The transfer has started and no token has arrived.',
        likelyCause:
          'Likely the connector does not keep tokens: its EDR cache is missing or gets no transfer events.',
      })
  }
}

function readAccess(edc: Edc, body: unknown, transferProcessId: string): DataAccess {
  const endpoint = isNode(body) ? textOf(body, 'endpoint') : undefined
  const token = isNode(body) ? textOf(body, 'authorization') : undefined
  if (endpoint === undefined || token === undefined || /[^\u0021-\u007E ]/u.test(token))
    throw new ConnectorError('bad_answer', {
      transferProcessId,
      what: 'The connector gave no endpoint or no token.',
    })
  const url = requireDataPlane(edc, endpoint, transferProcessId)
  return { endpoint: url, token }
}

/** The sender chooses this address. A name is resolved and checked at the connection. */
function requireDataPlane(edc: Edc, endpoint: string, transferProcessId: string): URL {
  let url: URL | undefined
  try {
    url = requireAddress(endpoint, 'The data plane')
  } catch {
    url = undefined
  }
  if (url && edc.allowDataPlane(url)) return url
  throw new ConnectorError('bad_answer', {
    transferProcessId,
    what: NOT_PUBLIC,
  })
}
