/** Why a passkey or a decision is refused, with the sentence that the person reads. */
export const APPROVAL_PROBLEMS = {
  passkeys_unavailable:
    'Passkeys need a host name and https. Set AEX_GATEWAY_PUBLIC_URL, for example to https://gateway.company.example, or to http://localhost:8090 on your own machine.',
  sign_in_not_fresh: 'Sign in again: a passkey is registered within ten minutes after a sign-in.',
  answer_malformed: 'The browser sent an answer that cannot be read. Load the page again and repeat it.',
  challenge_unknown:
    'This request was answered already, or its five minutes are over. Load the page again and repeat it.',
  too_many_challenges: 'Too many requests for a passkey are open. Wait five minutes, then repeat it.',
  passkey_exists: 'This passkey is registered already. Use it, or register another one.',
  passkey_limit: 'A person has at most ten passkeys. Remove one that is not used.',
  passkey_name: 'Give the passkey a name of 1 to 100 characters.',
  passkey_unknown: 'This passkey is not registered here, or it was removed. Use another one.',
  passkey_invalid:
    'The passkey did not confirm this request for this address with your PIN, fingerprint or face. Repeat it with the passkey that you registered here.',
} as const

export type ApprovalProblemCode = keyof typeof APPROVAL_PROBLEMS

/** An expected refusal. The cause is for the log; it holds no secret. */
export class ApprovalProblem extends Error {
  override readonly name = 'ApprovalProblem'
  readonly code: ApprovalProblemCode

  constructor(code: ApprovalProblemCode, options?: ErrorOptions) {
    super(APPROVAL_PROBLEMS[code], options)
    this.code = code
  }
}
