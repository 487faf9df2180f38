import { createHash } from 'node:crypto'
import type { Database, Transaction } from '@agent-exchange/database'
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  VerifyRegistrationResponseOpts,
} from '@simplewebauthn/server'
import { recordedChange } from '../people/administration-record.ts'
import type { SignedInBy } from '../people/session-rows.ts'
import { CHALLENGE_MS, FRESH_SIGN_IN_MS, MAXIMUM_PASSKEY_NAME_CHARACTERS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'
import { challengeOf, readAssertion, readRegistration } from './browser-answer.ts'
import { issueChallenge, noteSignIn, takeChallenge } from './challenges.ts'
import {
  insertPasskey,
  listPasskeys,
  lockPasskey,
  recordUse,
  removePasskey,
  type Passkey,
} from './passkey-rows.ts'
import { findRelyingParty, relyingPartyOf } from './relying-party.ts'
import { endOfSignInChallenge, newSignInChallenge } from './sign-in-challenges.ts'
import { verifyAssertion } from './verify-assertion.ts'
import { webauthn } from './webauthn.ts'

/** A person with a session at the desk. */
export interface SignedInPerson {
  readonly personId: string
  readonly name: string
  /** When the person proved who it is: to the provider, with an invitation or a passkey. */
  readonly signedInAt: Date | undefined
  readonly signedInBy: SignedInBy
}

export interface PasskeyOptions {
  readonly db: Database
  /** AEX_GATEWAY_PUBLIC_URL. */
  readonly publicUrl: string
  readonly now: () => Date
}

export interface PasskeysOptions extends PasskeyOptions {
  /** Of the MAC of challenges for sign-ins; all instances share it. */
  readonly signInKey: Uint8Array
}

/** Passkeys of people: registration, sign-in, list and removal. Failures are an {@link ApprovalProblem}. */
export interface Passkeys {
  /** False where no browser could use one: see the sentence of `passkeys_unavailable`. */
  readonly isAvailable: boolean
  registrationOptions(person: SignedInPerson): Promise<PublicKeyCredentialCreationOptionsJSON>
  /** `answer`: what the browser's `PublicKeyCredential.toJSON` returned. */
  register(person: SignedInPerson, name: string, answer: unknown): Promise<{ readonly passkeyId: string }>
  /** Whether the sign-in is recent enough to register a passkey. */
  isFresh(person: SignedInPerson): boolean
  list(personId: string): Promise<readonly Passkey[]>
  /** False if the person has no such passkey. */
  remove(personId: string, passkeyId: string): Promise<boolean>
  signInOptions(): Promise<PublicKeyCredentialRequestOptionsJSON>
  /** Whose passkey it is. The caller opens the session, if the person may still sign in. */
  signIn(answer: unknown): Promise<{ readonly personId: string }>
}

/** COSE numbers of EdDSA, ES256 and RS256: what authenticators of today make. */
const ALGORITHMS = [-8, -7, -257]

export function openPasskeys({ db, publicUrl, now, signInKey }: PasskeysOptions): Passkeys {
  function freshSignIn({ signedInAt }: SignedInPerson): Date | undefined {
    const age = now().getTime() - (signedInAt?.getTime() ?? Number.NaN)
    return age >= 0 && age <= FRESH_SIGN_IN_MS ? signedInAt : undefined
  }

  function requireFresh(person: SignedInPerson): Date {
    const signedInAt = freshSignIn(person)
    if (!signedInAt) throw new ApprovalProblem('sign_in_not_fresh')
    return signedInAt
  }

  return {
    isAvailable: findRelyingParty(publicUrl) !== undefined,

    async registrationOptions(person) {
      const party = relyingPartyOf(publicUrl)
      requireFresh(person)
      const { personId, name } = person
      const known = await listPasskeys(db, personId)
      const { generateRegistrationOptions } = await webauthn()
      const options = await generateRegistrationOptions({
        rpName: 'Agent Exchange gateway',
        rpID: party.id,
        userName: name,
        userDisplayName: name,
        userID: handleOf(personId),
        timeout: CHALLENGE_MS,
        attestationType: 'none',
        excludeCredentials: known.map(credentialOf),
        // Discoverable, so that a sign-in needs no name.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
      })
      const { challenge } = options
      await issueChallenge(db, { challenge, purpose: 'register', personId }, { now: now() })
      return options
    },

    async register(person, name, answer) {
      const party = relyingPartyOf(publicUrl)
      const signedInAt = requireFresh(person)
      const named = name.trim()
      if (named === '' || named.length > MAXIMUM_PASSKEY_NAME_CHARACTERS)
        throw new ApprovalProblem('passkey_name')
      const { personId } = person
      const response = readRegistration(answer)
      const challenge = challengeOf(response.response.clientDataJSON)
      await takeChallenge(db, { challenge, purpose: 'register', personId }, now())
      const { credential } = await verifiedRegistration({
        response,
        expectedChallenge: challenge,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      })
      const insert = (tx: Transaction) =>
        insertPasskey(tx, {
          passkeyId: credential.id,
          personId,
          name: named,
          publicKey: credential.publicKey,
          counter: credential.counter,
          transports: response.response.transports ?? [],
          signedInAt: signedInAt.toISOString(),
          registeredAt: now().toISOString(),
        })
      const by = { actor: { kind: 'person', id: personId } as const, now: now() }
      const details = { name: named, signed_in_by: person.signedInBy, signed_in_at: signedInAt.toISOString() }
      await recordedChange(db, by, insert, () => ({
        action: 'passkey.add',
        target: credential.id,
        details,
      }))
      return { passkeyId: credential.id }
    },

    isFresh: (person) => freshSignIn(person) !== undefined,
    list: (personId) => listPasskeys(db, personId),
    remove: (personId, passkeyId) =>
      recordedChange(
        db,
        { actor: { kind: 'person', id: personId }, now: now() },
        (tx) => removePasskey(tx, { personId, passkeyId }, now().toISOString()),
        (isRemoved) => (isRemoved ? { action: 'passkey.remove', target: passkeyId } : undefined),
      ),

    async signInOptions() {
      const { generateAuthenticationOptions } = await webauthn()
      return generateAuthenticationOptions({
        rpID: relyingPartyOf(publicUrl).id,
        challenge: newSignInChallenge(signInKey, now()),
        timeout: CHALLENGE_MS,
        userVerification: 'required',
      })
    },

    async signIn(answer) {
      const party = relyingPartyOf(publicUrl)
      const response = readAssertion(answer)
      const challenge = challengeOf(response.response.clientDataJSON)
      const endsAt = endOfSignInChallenge(signInKey, challenge, now())
      return db.begin(async (tx) => {
        const passkey = await lockPasskey(tx, response.id)
        if (!passkey) throw new ApprovalProblem('passkey_unknown')
        // Rolled back if the assertion is not valid: only who has a passkey stores anything.
        await noteSignIn(tx, { challenge, endsAt }, now())
        const counter = await verifyAssertion(response, { challenge, party, passkey })
        await recordUse(tx, passkey.passkeyId, { counter, at: now().toISOString() })
        return { personId: passkey.personId }
      })
    },
  }
}

async function verifiedRegistration(options: VerifyRegistrationResponseOpts) {
  const { verifyRegistrationResponse } = await webauthn()
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse(options)
    if (verified) return registrationInfo
  } catch (error) {
    throw new ApprovalProblem('passkey_invalid', { cause: error })
  }
  throw new ApprovalProblem('passkey_invalid')
}

/** WebAuthn stores the user handle in the authenticator: a digest tells nobody who it is. */
const handleOf = (personId: string) => new Uint8Array(createHash('sha256').update(personId).digest())

export const credentialOf = ({ passkeyId, transports }: Passkey) => ({
  id: passkeyId,
  transports: transports as AuthenticatorTransport[],
})
