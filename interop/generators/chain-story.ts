import type { CapsuleV3 } from '@agent-exchange/log'
import type { ChainLogPlan, World } from '@agent-exchange/testkit'
import type { TestAgent } from '../../packages/sdk/src/agents.fixture.ts'

/** What a capsule is changed to, and what a verifier says of it. */
export interface ChangedCapsule {
  readonly name: string
  readonly description: string
  readonly capsule: CapsuleV3
  /** Null: the verifier has no policy. */
  readonly policy?: null
  /** The level that it reaches, or the code of a check that fails. */
  readonly level?: string
  readonly code?: string
  /** What the verdict says about the content of a package. */
  readonly disclosed?: 'proved' | 'claimed'
  /** False where no witnessed checkpoint from before some entry is shown. */
  readonly isBoundedBelow?: boolean
}

/** A thread on a real exchange, and what is needed to forge it: the keys of everybody. */
export interface ChainStory extends AsyncDisposable {
  readonly world: World
  readonly acme: TestAgent
  readonly bolt: TestAgent
  /** As bolt sees the thread; acme sees a replay of a delivery that bolt does not. */
  readonly capsule: CapsuleV3
  readonly asAcmeSeesIt: CapsuleV3
  /** Logs a changed capsule, as an operator can who holds the keys of log and platform. */
  log(changed: CapsuleV3, plan?: ChainLogPlan): Promise<CapsuleV3>
}
