import { randomUUID } from 'node:crypto'
import type { SimulatorClock } from './clock.ts'
import type { Faults } from './faults.ts'
import type { Messenger } from './messages.ts'
import type {
  Agreement,
  Asset,
  ContractDefinition,
  GrantedToken,
  Negotiation,
  PolicyDefinition,
  TokenEntry,
  Transfer,
} from './records.ts'

/** Everything that one simulated connector holds. */
export class ParticipantState {
  readonly participantId: string
  readonly apiKey: string
  readonly clock: SimulatorClock
  readonly messenger: Messenger
  readonly tokenLifetimeMs: number | undefined
  readonly enforcesAccess: boolean
  /** Known once the server listens. */
  base = ''
  faults: Faults = {}
  readonly assets = new Map<string, Asset>()
  readonly policies = new Map<string, PolicyDefinition>()
  readonly contractDefinitions = new Map<string, ContractDefinition>()
  readonly negotiations = new Map<string, Negotiation>()
  readonly agreements = new Map<string, Agreement>()
  readonly transfers = new Map<string, Transfer>()
  readonly tokenEntries = new Map<string, TokenEntry>()
  readonly grantedTokens = new Map<string, GrantedToken>()
  /** How often tokens were refreshed, for tests that count. */
  refreshes = 0

  constructor(options: {
    participantId: string
    apiKey: string
    clock: SimulatorClock
    messenger: Messenger
    tokenLifetimeMs: number | undefined
    enforcesAccess: boolean
  }) {
    this.participantId = options.participantId
    this.apiKey = options.apiKey
    this.clock = options.clock
    this.messenger = options.messenger
    this.tokenLifetimeMs = options.tokenLifetimeMs
    this.enforcesAccess = options.enforcesAccess
  }

  get protocolAddress(): string {
    return `${this.base}/protocol`
  }

  now(): number {
    return this.clock.now()
  }

  newId(): string {
    return randomUUID()
  }
}

/** Moves a process on, and remembers when. */
export function enter(process: Negotiation | Transfer, state: string, now: number, detail?: string): void {
  process.state = state
  process.stateTimestamp = now
  if (detail !== undefined) process.errorDetail = detail
}
