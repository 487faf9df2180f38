import type { SingleSignOn } from '@agent-exchange/server/sign-on'
import type { SiteAddress } from '@agent-exchange/web'
import type { Sessions } from '../operator/sessions.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import type { OperatorRole } from '../kernel/operator-roles.ts'

export interface ConsoleDependencies {
  /** What `runRoute` needs. */
  readonly operator: OperatorDependencies
  readonly sessions: Sessions
  /** Runs a sign-in unless its address has failed too often. */
  readonly limitSignIn: <T>(address: string | undefined, signIn: () => Promise<T>) => Promise<T>
  /** Undefined: operators sign in with tokens only. */
  readonly signOn: SingleSignOn<OperatorRole> | undefined
  /** 32 bytes that all replicas share: CSRF tokens and messages. */
  readonly key: Uint8Array
  readonly address: SiteAddress
}
