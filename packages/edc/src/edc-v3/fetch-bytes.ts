import { request } from 'undici'
import type { Acquisition } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'
import type { WaitScope } from '../wait-scope.ts'
import type { DataAccess } from './access-token.ts'
import { networkFailure, readAtMost, stopReading } from './body.ts'
import type { Edc } from './edc.ts'
import { problemText } from './problem-text.ts'

export type FetchResult = { readonly bytes: Uint8Array } | 'rejected'

/** Downloads the bytes, with retries after network failures and 5xx. The caller handles a refused token. */
export async function fetchBytes(
  edc: Edc,
  access: DataAccess,
  acquisition: Acquisition,
  { maximumBytes, scope }: { maximumBytes: number; scope: WaitScope },
): Promise<FetchResult> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchOnce(edc, access, acquisition, { maximumBytes, scope })
    } catch (error) {
      const again = error instanceof ConnectorError && ['unreachable', 'truncated'].includes(error.code)
      if (!again || attempt + 1 >= LIMITS.attempts || !(await scope.backOff(attempt))) throw error
    }
  }
}

async function fetchOnce(
  edc: Edc,
  { endpoint, token }: DataAccess,
  acquisition: Acquisition,
  { maximumBytes, scope }: { maximumBytes: number; scope: WaitScope },
): Promise<FetchResult> {
  const ids = idsOf(acquisition)
  if (scope.left() === 0)
    throw new ConnectorError('timeout', { ...ids, what: 'No time is left to fetch the bytes.' })
  const limit = AbortSignal.timeout(Math.ceil(scope.left()))
  let begun = false
  try {
    const answer = await request(endpoint, {
      method: 'GET',
      // The bare token: EDC's data plane accepts no scheme. No compression: the bytes must be exact.
      headers: { authorization: token, 'accept-encoding': 'identity' },
      dispatcher: edc.dataPlanes,
      signal: AbortSignal.any([scope.signal, limit]),
    })
    const { statusCode: status, headers, body } = answer
    if (status !== 200) return await refused(status, await readAtMost(body, LIMITS.problemBytes), ids)
    begun = true
    const length = Number(headers['content-length'])
    if (length > maximumBytes) {
      stopReading(body)
      throw new ConnectorError('too_large', {
        ...ids,
        what: `There are ${length} bytes; ${maximumBytes} are allowed.`,
      })
    }
    return { bytes: await readAtMost(body, maximumBytes) }
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    throw networkFailure(error, 'The data plane', {
      aborted: scope.signal.aborted,
      timedOut: limit.aborted,
      begun,
    })
  }
}

/** EDC's data plane reports a status of the sender's data address as text in a 500. */
async function refused(
  status: number,
  bytes: Uint8Array,
  ids: ReturnType<typeof idsOf>,
): Promise<'rejected'> {
  if (status === 401 || status === 403) return 'rejected'
  const errorDetail = problemText(bytes)
  const said = { ...ids, httpStatus: status, ...(errorDetail !== undefined && { errorDetail }) }
  if (status === 410 || (status >= 500 && /\b410\b/u.test(errorDetail ?? '')))
    throw new ConnectorError('withdrawn', said)
  const what = `The data plane answered ${status}.`
  if (status >= 500 || status === 429) throw new ConnectorError('unreachable', { ...said, what })
  throw new ConnectorError('bad_answer', { ...said, what })
}

export function idsOf({
  assetId,
  contractAgreementId,
  transferProcessId,
  counterPartyTransferProcessId,
}: Acquisition) {
  return {
    assetId,
    contractAgreementId,
    transferProcessId,
    ...(counterPartyTransferProcessId !== undefined && { counterPartyTransferProcessId }),
  }
}
