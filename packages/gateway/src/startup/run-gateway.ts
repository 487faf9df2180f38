import { collectStartupGarbage } from '@agent-exchange/server/collect-startup-garbage'
import type { GatewayConfig } from '../config/read-config.ts'
import { startGateway, type GatewayOptions, type RunningGateway } from './start-gateway.ts'

/** The gateway as `aex gateway serve` runs it, in a process of its own. */
export async function runGateway(config: GatewayConfig, options: GatewayOptions): Promise<RunningGateway> {
  const gateway = await startGateway(config, options)
  collectStartupGarbage()
  return gateway
}
