import { once } from 'node:events'
import { request as overHttp, type IncomingMessage } from 'node:http'
import { request as overHttps } from 'node:https'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  administrationPlace,
  listAgents,
  readGatewayConfig,
  type AdministrationPlace,
} from '@agent-exchange/gateway'
import type { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visibleJson } from '../../visible.ts'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { gatewayFailure } from './gateway-failure.ts'
import { withGateway } from './opened-gateway.ts'

const LIMIT_MS = 5_000

export const gatewayStatusCommand = (): Command =>
  gatewayLeaf(
    'status',
    'Show whether the gateway on this machine is ready, and its agents',
    'status --json',
  ).action(showStatus)

async function showStatus({ json }: Json): Promise<void> {
  const isReady = await askWhetherReady(ownPlace())
  const agents = await withGateway(({ db }) => listAgents(db))
  const state = { ready: isReady, agents: agents.map(({ agentId }) => agentId) }
  if (json) console.log(visibleJson(state))
  else console.log(`${isReady ? 'ready' : 'not ready'}; agents: ${state.agents.join(', ') || 'none'}`)
  if (!isReady) process.exitCode = 1
}

function ownPlace(): AdministrationPlace {
  try {
    return administrationPlace(readGatewayConfig(process.env))
  } catch (error) {
    throw gatewayFailure(error)
  }
}

async function askWhetherReady({ url, certificateName }: AdministrationPlace): Promise<boolean> {
  const sent = (url.startsWith('https:') ? overHttps : overHttp)(`${url}/readyz`, {
    agent: false,
    signal: AbortSignal.timeout(LIMIT_MS),
    // On this machine there is nobody to be mistaken for it, and nothing secret is sent.
    rejectUnauthorized: certificateName !== undefined,
    ...(certificateName !== undefined && {
      checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
        checkServerIdentity(certificateName, certificate),
    }),
  }).end()
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode === 200
  } catch (error) {
    throw new CommandFailure(
      `No gateway answers at ${url} (${codeOf(error)}). Start one: ${aexStep('gateway', 'serve')}, or set AEX_GATEWAY_HOST and AEX_GATEWAY_ADMIN_PORT.`,
    )
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  return code === 'ABORT_ERR' ? 'no answer in time' : code
}
