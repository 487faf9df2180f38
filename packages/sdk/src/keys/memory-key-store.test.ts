import { testKeyStore } from './key-store-contract.fixture.ts'
import { createMemoryKeyStore } from './memory-key-store.ts'

testKeyStore('in memory', createMemoryKeyStore)
