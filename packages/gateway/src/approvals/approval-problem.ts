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
  not_an_approver:
    'You may not decide about this draft: it needs a person with the role approver, whom its rules permit, or a delegate of one.',
  drafter: 'You wrote this draft. Another person has to decide about it.',
  passkey_missing:
    'You have no passkey. Register one on the page Passkeys, for drafts that are made afterwards.',
  passkey_too_new:
    'A draft is decided with a passkey that was registered before it was made. Have it drafted again, or let another person decide.',
  draft_changed: 'The draft is not the one that you saw. Load the page again and read it.',
  rule_changed: 'The rules of approval changed since you saw the draft. Load the page again.',
  decision_unknown: 'Choose to approve or to decline.',
  reason_missing: 'Give a reason of at most 2,000 characters. It stays inside the company.',
  decision_limit: 'There are 50 decisions about this draft. Discard it, and have it drafted again.',
  rule_limit: 'There are 200 rules. Remove one that is not used: aex gateway rule remove.',
  person_unknown:
    'There is no such person. List people: aex gateway person list. People of the identity provider appear with their first sign-in.',
  delegator_not_approver: 'Only a person with the role approver lets another one approve.',
  delegation_same: 'Name two different people.',
  delegation_limit: 'There are 1,000 delegations that have not ended. End one that is not used.',
  delegation_time: 'A delegation ends in the future, at most 92 days from now.',
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
