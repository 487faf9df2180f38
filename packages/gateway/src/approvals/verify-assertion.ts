import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { ApprovalProblem } from './approval-problem.ts'
import type { Passkey } from './passkey-rows.ts'
import type { RelyingParty } from './relying-party.ts'
import { webauthn } from './webauthn.ts'

/**
 * WebAuthn section 7.2: type, challenge, origin, relying party, user present, user verified, signature, and a counter
 * that grows where the authenticator counts. Returns the new counter.
 */
export async function verifyAssertion(
  response: AuthenticationResponseJSON,
  expected: {
    readonly challenge: string
    readonly party: RelyingParty
    readonly passkey: Pick<Passkey, 'passkeyId' | 'publicKey' | 'counter'>
  },
): Promise<number> {
  const { challenge, party, passkey } = expected
  if (response.id !== passkey.passkeyId) throw new ApprovalProblem('passkey_unknown')
  const { verifyAuthenticationResponse } = await webauthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: { id: passkey.passkeyId, publicKey: passkey.publicKey, counter: passkey.counter },
      requireUserVerification: true,
    })
    if (verified) return authenticationInfo.newCounter
  } catch (error) {
    throw new ApprovalProblem('passkey_invalid', { cause: error })
  }
  throw new ApprovalProblem('passkey_invalid')
}
