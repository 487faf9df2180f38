/** `npm run test:conformance`: the conformance kit judges our service, broken ones, agents, validators and verifiers. */

import { runParts } from '../shared/trial-parts.ts'
import { tryAgentMutants, tryAgents, tryCarelessAgent } from './judge-agents.ts'
import { tryCertificates } from './judge-certificates.ts'
import { tryEmbedded, tryOutside } from './judge-exchange.ts'
import { tryLog } from './judge-log.ts'
import { tryMutants, tryNarrowProfile, tryService, tryTenRuns, tryWideProfile } from './judge-own-service.ts'
import { tryNaiveServer } from './judge-naive-server.ts'
import { tryValidators, tryVerifiers } from './judge-validator.ts'
import { tryCommand } from './run-command.ts'

const HELP = `Runs the conformance kit; exits 1 if our service fails or a broken one passes.

  npm run test:conformance                 all parts but those on demand
  npm run test:conformance -- service      our service with the default profile
  npm run test:conformance -- mutants      one broken rule after the other
  npm run test:conformance -- naive        a server that checks too little
  npm run test:conformance -- careless     an agent that opens everything
  npm run test:conformance -- objects      validators of objects
  npm run test:conformance -- capsules     verifiers of capsules
  npm run test:conformance -- log          our transparency log, and broken ones
  npm run test:conformance -- agents       agents of the SDK, of a gateway, of Python, of curl and openssl
  npm run test:conformance -- agent-mutants  agents that break one rule each
  npm run test:conformance -- certificates clients that authenticate by certificates
  npm run test:conformance -- command      the command with a configuration file

On demand:
  npm run test:conformance -- narrow       our service with the narrowest profile
  npm run test:conformance -- wide         our service with the widest profile
  npm run test:conformance -- embedded     aex serve with the embedded PostgreSQL, killed and restarted
  npm run test:conformance -- outside      aex serve with an installed PostgreSQL
  npm run test:conformance -- ten-runs     ten runs with one configuration`

const PARTS = {
  service: tryService,
  mutants: tryMutants,
  naive: tryNaiveServer,
  careless: tryCarelessAgent,
  objects: tryValidators,
  capsules: tryVerifiers,
  log: tryLog,
  agents: tryAgents,
  'agent-mutants': tryAgentMutants,
  certificates: tryCertificates,
  command: tryCommand,
  narrow: tryNarrowProfile,
  wide: tryWideProfile,
  embedded: tryEmbedded,
  outside: tryOutside,
  'ten-runs': tryTenRuns,
} as const

await runParts({
  help: HELP,
  names: Object.keys(PARTS) as (keyof typeof PARTS)[],
  onDemand: ['narrow', 'wide', 'embedded', 'outside', 'ten-runs'],
  async run(wanted, tools) {
    for (const name of wanted) await PARTS[name](tools)
  },
})
