import { registerContractSuite } from './contract-suite.fixture.ts'
import { simulatedPair } from './simulated-pair.fixture.ts'

registerContractSuite('simulator', () => simulatedPair())
registerContractSuite('simulator, as stock EDC', () => simulatedPair({ enforcesAccess: false }))
registerContractSuite('simulator, as Tractus-X', () => simulatedPair({ tokenLifetimeMs: 300_000 }))
registerContractSuite('simulator, protocol 2025-1', () =>
  simulatedPair({ protocol: 'dataspace-protocol-http:2025-1' }),
)
