import { collectStartupGarbage } from '@agent-exchange/server/collect-startup-garbage'
import type { GatewayConfig } from '../config/read-config.ts'
import type { GatewayOptions, RunningGateway } from './start-gateway.ts'

/** The gateway as `aex gateway serve` runs it, in a process of its own. */
export async function runGateway(config: GatewayConfig, options: GatewayOptions): Promise<RunningGateway> {
  // Loaded on demand: other commands start faster.
  const { startGateway } = await import('./start-gateway.ts')
  const gateway = await startGateway(config, options)
  collectStartupGarbage()
  return gateway
}
