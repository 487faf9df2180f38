import type { WithdrawalReport, WithdrawalStep } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { offerIdOf, policyIdOf, requireId } from '../derived-ids.ts'
import type { WaitScope } from '../wait-scope.ts'
import { query, type Edc } from './edc.ts'
import { textOf } from './json-ld-reader.ts'
import { readProcess, terminate } from './process.ts'
import { endTransfers, phaseOf, transfersOf } from './transfer.ts'

const SETTLED: ReadonlySet<string> = new Set(['FINALIZED', 'TERMINATING', 'TERMINATED'])
const REASON = 'withdrawn by the sender'

/**
 * The data address first: nothing else stops a holder of an agreement or a token. Then the steps at the connector,
 * each independent of the others.
 */
export async function withdraw(edc: Edc, assetId: string, scope: WaitScope): Promise<WithdrawalReport> {
  requireId(assetId)
  const problems: { step: WithdrawalStep; code: string; what: string }[] = []
  const attempt = async <T>(step: WithdrawalStep, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ConnectorError && error.code === 'aborted') throw error
      const code = error instanceof ConnectorError ? error.code : 'unexpected'
      problems.push({
        step,
        code,
        what: error instanceof ConnectorError ? error.message : 'It failed unexpectedly.',
      })
      return undefined
    }
  }
  const dataBlocked = await attempt('data_address', async () => {
    if (!edc.dataAddress)
      throw new ConnectorError('invalid_input', {
        what: 'No data address was given, so none could be blocked.',
      })
    if (await edc.dataAddress.withdraw(assetId)) return true
    throw new ConnectorError('conflict', {
      what: 'The bytes were never kept at this data address. Withdraw with the one that published them.',
    })
  })
  const offerRemoved = await attempt('offer', async () => {
    await remove(edc, 'contractdefinitions', offerIdOf(assetId), [404], scope)
    await remove(edc, 'policydefinitions', policyIdOf(assetId), [404, 409], scope)
    return true
  })
  await attempt('negotiations', () => endNegotiations(edc, assetId, scope))
  const endedTransfers = await attempt('transfers', async () => {
    const transfers = await transfersOf(edc, 'assetId', assetId, scope)
    const open = transfers.filter(({ ofConsumer, state }) => !ofConsumer && phaseOf(state) !== 'ended')
    const ended = await endTransfers(edc, open, REASON, scope)
    if (ended.length < open.length)
      throw new ConnectorError('transfer_timeout', {
        what: `${open.length - ended.length} transfers have not ended yet.`,
      })
    return ended
  })
  const asset = await attempt('asset', async () => {
    const agreements = await query(
      edc,
      'contractagreements',
      [{ operandLeft: 'assetId', operandRight: assetId }],
      scope,
    )
    const agreedWith = [...new Set(agreements.flatMap((agreement) => textOf(agreement, 'consumerId') ?? []))]
    const status = await remove(edc, 'assets', assetId, [404, 409], scope)
    return { assetDeleted: status !== 409, agreedWith }
  })
  return {
    assetId,
    dataBlocked: dataBlocked ?? false,
    offerRemoved: offerRemoved ?? false,
    endedTransfers: endedTransfers ?? [],
    assetDeleted: asset?.assetDeleted ?? false,
    agreedWith: asset?.agreedWith ?? [],
    problems,
  }
}

async function remove(
  edc: Edc,
  kind: 'assets' | 'policydefinitions' | 'contractdefinitions',
  id: string,
  expect: readonly number[],
  scope: WaitScope,
): Promise<number> {
  const path = `/v3/${kind}/${encodeURIComponent(id)}`
  return (await edc.client.call({ method: 'DELETE', path, expect, repeatable: true }, scope)).status
}

async function endNegotiations(edc: Edc, assetId: string, scope: WaitScope): Promise<void> {
  const criteria = [{ operandLeft: 'contractOffers.assetId', operandRight: assetId }]
  const open = (await query(edc, 'contractnegotiations', criteria, scope))
    .map(readProcess)
    .filter(({ ofConsumer, state }) => !ofConsumer && !SETTLED.has(state))
  for (const { id } of open) await terminate(edc, 'contractnegotiations', id, REASON, scope)
}
