import type { PackageState } from '@agent-exchange/protocol'
import type { ClaimCode } from '../verdict/check-codes.ts'
import type { PackageCase, ProvedPackage } from './package-case.ts'
import type { SignatureRegister } from './signature-register.ts'
import type { EntryClaims } from './verify-chain.ts'
import type { EventFacts } from './verify-event.ts'

/** One entry of a package, with what is known of this and the other packages. */
export interface EntryCase extends PackageCase {
  readonly entry: EntryClaims
  readonly proved: ReadonlyMap<string, ProvedPackage>
  readonly register: SignatureRegister
}

/** What became of one entry. */
export interface EntryVerdict {
  /** A verified signature proves what the entry says. */
  readonly isSigned: boolean
  /** What the entry claims where it is not covered; `recording` where there is a signature behind it. */
  readonly claim: ClaimCode
  /** What its audit event has to repeat; left out where nobody signed. */
  readonly facts?: EventFacts
  /** The states to which an entry of this kind may move the package. */
  readonly leadsTo: readonly PackageState[]
}
