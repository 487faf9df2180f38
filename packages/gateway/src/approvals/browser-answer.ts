import { shapeValidator } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { ApprovalProblem } from './approval-problem.ts'
import { MAXIMUM_ANSWER_CHARACTERS } from './approval-limits.ts'

const bytes = Type.String({ maxLength: MAXIMUM_ANSWER_CHARACTERS, pattern: '^[A-Za-z0-9_-]*$' })
const word = Type.String({ maxLength: 40 })
const credential = {
  id: bytes,
  rawId: bytes,
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(Type.Union([word, Type.Null()])),
  clientExtensionResults: Type.Object({}),
}

const registration = shapeValidator(
  Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: bytes,
      attestationObject: bytes,
      transports: Type.Optional(Type.Array(word, { maxItems: 10 })),
    }),
  }),
  'gateway',
)
const assertion = shapeValidator(
  Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: bytes,
      authenticatorData: bytes,
      signature: bytes,
      userHandle: Type.Optional(Type.Union([bytes, Type.Null()])),
    }),
  }),
  'gateway',
)

/** What `PublicKeyCredential.toJSON` of a browser made of a new passkey. */
export function readRegistration(answer: unknown): RegistrationResponseJSON {
  if (registration.accepts(answer)) return answer as RegistrationResponseJSON
  throw new ApprovalProblem('answer_malformed')
}

/** The same of an assertion. */
export function readAssertion(answer: unknown): AuthenticationResponseJSON {
  if (assertion.accepts(answer)) return answer as AuthenticationResponseJSON
  throw new ApprovalProblem('answer_malformed')
}

/** The challenge that the answer claims to be about. The signature is verified afterwards. */
export function challengeOf(clientDataJSON: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    if (
      typeof data === 'object' &&
      data !== null &&
      'challenge' in data &&
      typeof data.challenge === 'string'
    )
      return data.challenge
  } catch {
    // Not JSON: refused below.
  }
  throw new ApprovalProblem('answer_malformed')
}
