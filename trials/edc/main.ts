import { registerContractSuite } from '../../packages/edc/src/contract-suite.fixture.ts'
import { startEdcPair } from './edc-pair.ts'
import { findJars } from './jars.ts'

/** `npm run test:edc`: the contract suite of connectors against two real ones. */
const jars = findJars()
if ('skipped' in jars) console.log(`skipped: ${jars.skipped}`)
else if ('failed' in jars) {
  console.error(jars.failed)
  process.exitCode = 1
} else registerContractSuite('two EDC runtimes', () => startEdcPair(jars.folder))
