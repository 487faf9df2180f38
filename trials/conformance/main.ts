/** `npm run test:conformance`: the conformance kit judges our service, broken ones, agents, validators and verifiers. */

import { runParts } from '../shared/trial-parts.ts'
import { tryAgentMutants, tryAgents } from './judge-agents.ts'
import { tryLog } from './judge-log.ts'
import { tryMutants, tryService } from './judge-own-service.ts'
import { tryNaiveServer } from './judge-naive-server.ts'
import { tryValidators, tryVerifiers } from './judge-validator.ts'
import { tryCommand } from './run-command.ts'

const HELP = `Runs the conformance kit; exits 1 if our service fails or a broken one passes.

  npm run test:conformance                 all parts
  npm run test:conformance -- service      our service with the default profile
  npm run test:conformance -- mutants      one broken rule after the other
  npm run test:conformance -- naive        a server that checks too little
  npm run test:conformance -- objects      validators of objects
  npm run test:conformance -- capsules     verifiers of capsules
  npm run test:conformance -- log          our transparency log, and broken ones
  npm run test:conformance -- agents       agents of the SDK, of curl and openssl, of Python
  npm run test:conformance -- agent-mutants  agents that break one rule each
  npm run test:conformance -- command      the command with a configuration file`

const PARTS = {
  service: tryService,
  mutants: tryMutants,
  naive: tryNaiveServer,
  objects: tryValidators,
  capsules: tryVerifiers,
  log: tryLog,
  agents: tryAgents,
  'agent-mutants': tryAgentMutants,
  command: tryCommand,
} as const

await runParts({
  help: HELP,
  names: Object.keys(PARTS) as (keyof typeof PARTS)[],
  async run(wanted, tools) {
    for (const name of wanted) await PARTS[name](tools)
  },
})
