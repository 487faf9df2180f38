/** `npm run test:outside`: runs third-party tools against a running exchange and its OpenAPI document. */

import { startOutsideExchange } from './exchange.ts'
import { tryGatewayClient } from './generated-gateway-client.ts'
import { tryGeneratedClients } from './generated-clients.ts'
import { runParts } from '../shared/trial-parts.ts'
import { trySchemathesis } from './schemathesis.ts'

const HELP = `Runs schemathesis and openapi-generator against a new exchange and a new gateway; exits 1 if one finds a defect.

  npm run test:outside                 all; a missing tool is skipped with its reason
  npm run test:outside -- schemathesis
  npm run test:outside -- clients
  npm run test:outside -- gateway      a Python client generated from the document of a gateway`

const TRIALS = { schemathesis: trySchemathesis, clients: tryGeneratedClients } as const

await runParts({
  help: HELP,
  names: [...(Object.keys(TRIALS) as (keyof typeof TRIALS)[]), 'gateway'],
  async run(wanted, tools) {
    const ofExchange = wanted.filter((name) => name !== 'gateway')
    if (ofExchange.length > 0) {
      await using exchange = await startOutsideExchange(tools.folder)
      for (const name of ofExchange) await TRIALS[name]({ exchange, ...tools })
    }
    if (wanted.includes('gateway')) await tryGatewayClient(tools)
  },
})
