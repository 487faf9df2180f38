import { ConnectorError, withoutSecrets } from '../connector-error.ts'
import type { WaitScope } from '../wait-scope.ts'
import { unreadable, type Edc } from './edc.ts'
import { idOf, isNode, numberOf, textOf, type Node } from './json-ld-reader.ts'
import { REQUEST_CONTEXT } from './vocabulary.ts'

/** A negotiation or transfer. Each side has its own id for it. */
export interface Process {
  readonly id: string
  readonly state: string
  readonly ofConsumer: boolean
  readonly counterPartyId: string | undefined
  readonly correlationId: string | undefined
  readonly assetId: string | undefined
  readonly agreementId: string | undefined
  readonly errorDetail: string | undefined
  readonly since: string | undefined
}

export type ProcessKind = 'contractnegotiations' | 'transferprocesses'

export function readProcess(node: Node): Process {
  const id = idOf(node)
  const state = textOf(node, 'state')
  if (id === undefined || state === undefined) throw unreadable('the query of a process')
  const detail = textOf(node, 'errorDetail')
  const since = numberOf(node, 'stateTimestamp') ?? numberOf(node, 'updatedAt') ?? numberOf(node, 'createdAt')
  return {
    id,
    state,
    ofConsumer: textOf(node, 'type') !== 'PROVIDER',
    counterPartyId: textOf(node, 'counterPartyId'),
    correlationId: textOf(node, 'correlationId'),
    assetId: textOf(node, 'assetId'),
    agreementId: textOf(node, 'contractAgreementId') ?? textOf(node, 'contractId'),
    errorDetail: detail === undefined ? undefined : withoutSecrets(detail),
    since: since === undefined ? undefined : isoTime(since),
  }
}

export async function getProcess(
  edc: Edc,
  kind: ProcessKind,
  id: string,
  scope: WaitScope,
): Promise<Process | undefined> {
  const path = `/v3/${kind}/${encodeURIComponent(id)}`
  const { status, body } = await edc.client.call({ method: 'GET', path, expect: [404] }, scope)
  if (status === 404) return undefined
  if (!isNode(body)) throw unreadable(`GET ${path}`)
  return readProcess(body)
}

export interface Waited {
  readonly process: Process
  /** The first detail: later ones report failures to send the first. */
  readonly firstDetail: string | undefined
  readonly outcome: 'reached' | 'timeout'
}

/**
 * Polls a process until a state or the deadline is reached. Failures of the connector do not end the wait.
 */
export async function watch(
  edc: Edc,
  kind: ProcessKind,
  first: Process,
  {
    until,
    scope,
    changed,
  }: { until: (state: string) => boolean; scope: WaitScope; changed: (process: Process) => void },
): Promise<Waited> {
  let process = first
  let firstDetail = first.errorDetail
  for (let quiet = 0; ; quiet++) {
    if (until(process.state)) return { process, firstDetail, outcome: 'reached' }
    if (!(await scope.backOff(quiet))) return { process, firstDetail, outcome: 'timeout' }
    const seen = await getProcess(edc, kind, process.id, scope).catch((error: unknown) => {
      if (error instanceof ConnectorError && ['unreachable', 'timeout'].includes(error.code)) return process
      throw error
    })
    if (!seen)
      throw new ConnectorError('bad_answer', { what: `The connector has lost ${kind} ${process.id}.` })
    firstDetail ??= seen.errorDetail
    if (seen.state !== process.state) {
      quiet = -1
      changed(seen)
    }
    process = seen
  }
}

export async function terminate(
  edc: Edc,
  kind: ProcessKind,
  id: string,
  reason: string,
  scope: WaitScope,
): Promise<void> {
  const type = kind === 'transferprocesses' ? 'TerminateTransfer' : 'TerminateNegotiation'
  await edc.client.call(
    {
      method: 'POST',
      path: `/v3/${kind}/${encodeURIComponent(id)}/terminate`,
      body: { '@context': REQUEST_CONTEXT, '@id': id, '@type': type, reason },
      // 404: forgotten; 409: it has ended already. Either way there is nothing left to end.
      expect: [404, 409],
      repeatable: true,
    },
    scope,
  )
}

function isoTime(time: number): string | undefined {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
