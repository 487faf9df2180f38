import type { DoctorCheck, ProbeOptions } from '@agent-exchange/edc'
import type { AgentFolder } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { readConnector, type ConnectorSettings } from './connector-settings.ts'
import { dataAddressUrl, isServing, startDataAddress } from './data-address.ts'
import type { Subject } from './examination.ts'
import { connectorOf } from './folder-connector.ts'
import { folderStep, nextStep } from './next-step.ts'

const DOCTOR_MS = 30_000

/**
 * All checks of the connector. The dry run needs the data address: uses the running one, or starts one for the check.
 */
export async function checkConnector(
  { files }: AgentFolder,
  settings: ConnectorSettings,
  probe: ProbeOptions,
): Promise<readonly DoctorCheck[]> {
  const { data_address: place } = settings
  const { examineConnector, openDataAddressFolder } = await import('@agent-exchange/edc')
  if (probe.dryRun === false) return examineConnector(await connectorOf(settings), probe)
  await using server = await startDataAddress(place, files.outgoing)
  const host = server ?? (await openDataAddressFolder(files.outgoing, dataAddressUrl(place)))
  return await examineConnector(await connectorOf(settings, host), probe)
}

/** For `aex agent doctor`, which publishes nothing. */
export async function examineConnectorOf({ agent, place }: Subject): Promise<string> {
  const settings = await readConnector(agent.folder)
  if (!settings) return 'none is set; packages travel through the exchange'
  const { connector_id, partners, data_address } = settings
  const checks = await checkConnector(agent.folder, settings, { dryRun: false, deadlineMs: DOCTOR_MS })
  const wrong = checks.find(({ ok }) => !ok)
  if (wrong) {
    const hint = wrong.detail.includes(wrong.hint) ? '' : ` ${wrong.hint}`
    throw new CommandFailure(
      `${wrong.name}: ${wrong.detail}${hint} Run all checks: ${folderStep(place, 'connector', 'check')}`,
    )
  }
  const { transport_modes: modes } = await agent.context.connection.call('getAgent', {
    path: { agent_id: agent.identity.agentId },
  })
  if (!modes.includes('ds_x'))
    throw new CommandFailure(
      `A connector is set, and the agent is registered without ds_x. Run: ${nextStep(place, 'register')}`,
    )
  if (!(await isServing(data_address)))
    throw new CommandFailure(
      `Nothing serves the data address, so nobody can fetch what this agent sends. Keep this running: ${folderStep(place, 'data-address')}`,
    )
  return `${connector_id} can be used; ${Object.keys(partners).length} partner(s)`
}
