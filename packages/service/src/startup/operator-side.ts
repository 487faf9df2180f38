import { deriveSecret } from '@agent-exchange/server/master-key'
import { showConfig } from '../config/index.ts'
import { openConsole } from '../console/open-console.ts'
import { createOperatorBodyBudget } from '../http/body-budget.ts'
import type { ConnectionRules } from '../http/connection-limit.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import { createOperatorServer } from '../operator/server.ts'
import type { Base } from './base.ts'
import type { Exchange } from './open-exchange.ts'

/** The operator API and the console. */
export function createOperatorSide(
  { config, operatorDb, log }: Base,
  { context, platformKeys }: Exchange,
  given: Pick<OperatorDependencies, 'masterKeys' | 'metrics' | 'isReady'> & {
    readonly connections: ConnectionRules
  },
) {
  const dependencies: OperatorDependencies = {
    ...given,
    db: operatorDb,
    context,
    log,
    webhookKeys: platformKeys.webhook,
    rotatingKeys: platformKeys,
    settings: showConfig(config),
    bodies: createOperatorBodyBudget(config.profile),
    ...(config.tls && { tls: config.tls }),
  }
  const server = createOperatorServer(dependencies)
  openConsole(server, dependencies, { config, key: deriveSecret(platformKeys.secrets.mac(), 'console') })
  return server
}
