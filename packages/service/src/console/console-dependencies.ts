import type { Sessions } from '../operator/sessions.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import type { ConsoleAddress } from './console-origins.ts'

export interface ConsoleDependencies {
  /** What `runRoute` needs. */
  readonly operator: OperatorDependencies
  readonly sessions: Sessions
  /** Runs a sign-in unless its address has failed too often. */
  readonly limitSignIn: <T>(address: string | undefined, signIn: () => Promise<T>) => Promise<T>
  /** 32 bytes that all replicas share: CSRF tokens and messages. */
  readonly key: Uint8Array
  readonly address: ConsoleAddress
}
