/** `npm run test:outside`: runs third-party tools against a running exchange and its OpenAPI document. */

import { startOutsideExchange } from './exchange.ts'
import { tryGeneratedClients } from './generated-clients.ts'
import { runParts } from '../shared/trial-parts.ts'
import { trySchemathesis } from './schemathesis.ts'

const HELP = `Runs schemathesis and openapi-generator against a new exchange; exits 1 if one finds a defect.

  npm run test:outside                 both; a missing tool is skipped with its reason
  npm run test:outside -- schemathesis
  npm run test:outside -- clients`

const TRIALS = { schemathesis: trySchemathesis, clients: tryGeneratedClients } as const

await runParts({
  help: HELP,
  names: Object.keys(TRIALS) as (keyof typeof TRIALS)[],
  async run(wanted, tools) {
    await using exchange = await startOutsideExchange(tools.folder)
    for (const name of wanted) await TRIALS[name]({ exchange, ...tools })
  },
})
