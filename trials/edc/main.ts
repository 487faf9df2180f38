import { registerContractSuite } from '../../packages/edc/src/contract-suite.fixture.ts'
import { startEdcPair } from './edc-pair.ts'
import { findJars } from './jars.ts'
import { Skipped } from '../shared/report.ts'

/** `npm run test:edc`: the contract suite of connectors against two real ones. */
const jars = await findJars().catch((error: unknown) => {
  if (!(error instanceof Skipped)) throw error
  console.log(`skipped: ${error.message}`)
})
if (jars !== undefined) registerContractSuite('two EDC runtimes', () => startEdcPair(jars))
