import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectorPair } from '../../packages/edc/src/contract-suite.fixture.ts'
import { EdcV3Connector, startDataAddressServer, type EdcV3Options } from '../../packages/edc/src/index.ts'
import { startKeyVault } from './key-vault.ts'
import { freePorts, LISTENERS, startRuntime, type EdcRuntime } from './runtime.ts'

const CONTEXT = { '@vocab': 'https://w3id.org/edc/v0.0.1/ns/' }

export interface EdcPair extends ConnectorPair {
  readonly provider: EdcRuntime
  readonly consumer: EdcRuntime
  connector(runtime: EdcRuntime, changes?: Partial<EdcV3Options>): EdcV3Connector
}

/** Two real connectors, and our adapter in front of each. */
export async function startEdcPair(jars: string): Promise<EdcPair> {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'edc-'))
  process.once('exit', (code) => {
    if (code === 0) rmSync(folder, { recursive: true, force: true })
    else console.error(`The logs of both connectors are in ${folder}`)
  })
  const vault = started.use(await startKeyVault())
  const dataAddress = started.use(await startDataAddressServer())
  const ports = await freePorts(2 * LISTENERS)
  const launch = (participantId: string, first: number) =>
    startRuntime({ participantId, jars, folder, vault, ports: ports.slice(first, first + LISTENERS) })
  const launched = await Promise.allSettled([launch('provider', 0), launch('consumer', LISTENERS)])
  const [provider, consumer] = launched.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return started.use(result.value)
  }) as [EdcRuntime, EdcRuntime]
  const connector = (runtime: EdcRuntime, changes: Partial<EdcV3Options> = {}) => {
    const { participantId, apiKey, managementUrl, protocolEndpoint, versionUrl } = runtime
    const about = { connectorId: `connector_${participantId}`, participantId, auth: { apiKey } }
    return new EdcV3Connector({
      ...about,
      managementUrl,
      protocolEndpoint,
      versionUrl,
      dataAddress,
      allowPrivateDataPlanes: true,
      ...changes,
    })
  }
  const everything = started.move()
  return {
    provider,
    consumer,
    connector,
    sender: connector(provider),
    recipient: connector(consumer),
    senderParty: { participantId: provider.participantId, protocolEndpoint: provider.protocolEndpoint },
    restart: (who) => connector(who === 'sender' ? provider : consumer),
    count: async (assetId) => ({
      assets: await count(provider, 'assets', `${CONTEXT['@vocab']}id`, assetId),
      negotiations: await count(consumer, 'contractnegotiations', 'contractOffers.assetId', assetId),
      transfers: await count(consumer, 'transferprocesses', 'assetId', assetId),
    }),
    enforcesAccess: false,
    stuckAfterMs: 8_000,
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  }
}

async function count(
  { managementUrl, apiKey }: EdcRuntime,
  kind: string,
  operandLeft: string,
  operandRight: string,
) {
  const filterExpression = [{ operandLeft, operator: '=', operandRight }]
  const answer = await fetch(`${managementUrl}/v3/${kind}/request`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ '@context': CONTEXT, '@type': 'QuerySpec', filterExpression }),
  })
  return ((await answer.json()) as unknown[]).length
}
