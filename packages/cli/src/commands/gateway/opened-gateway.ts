import { openGateway, readGatewayConfig, type OpenGateway } from '@agent-exchange/gateway'
import type { Place } from '../../agent/next-step.ts'
import { gatewayFailure } from './gateway-failure.ts'

interface OpeningOptions {
  readonly create?: boolean
  readonly plan?: boolean
  /** What a message about a failure refers to. */
  readonly place?: Place
}

/** Runs a command on the database of the gateway that the environment names. */
export async function withGateway<T>(
  work: (gateway: OpenGateway) => Promise<T>,
  { create = false, plan = false, place = {} }: OpeningOptions = {},
): Promise<T> {
  try {
    const config = readGatewayConfig(process.env)
    await using gateway = await openGateway(config, { create, plan, progress: (line) => console.error(line) })
    return await work(gateway)
  } catch (error) {
    throw gatewayFailure(error, place)
  }
}
