import { CHALLENGE_MS, FRESH_SIGN_IN_MS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'
import { challengeOfStatement, parseStatement, type DecisionStatement } from './decision-statement.ts'
import { verifyAssertion } from './verify-assertion.ts'

/** A decision with everything that verifies it, as it was when it was made. */
export interface StoredApproval {
  /** RFC 8785 text. */
  readonly statement: string
  readonly clientData: Uint8Array
  readonly authenticatorData: Uint8Array
  readonly signature: Uint8Array
  readonly passkeyId: string
  /** COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  readonly counterBefore: number
  readonly signedInAt: string
  readonly registeredAt: string
  readonly origin: string
  readonly rpId: string
  readonly answeredAt: string
}

export type StoredApprovalFault = 'statement' | 'assertion' | 'answered_late' | 'passkey_not_fresh'

export type StoredApprovalVerdict =
  | { readonly verified: true; readonly statement: DecisionStatement }
  | { readonly verified: false; readonly fault: StoredApprovalFault }

/**
 * Verifies a decision again from its stored bytes alone: the statement is canonical, the passkey signed exactly its
 * digest for this origin and relying party with user verification, within five minutes, and the passkey was registered
 * after a fresh sign-in. Whether the decision is enough to send a draft is another question.
 */
export async function verifyStoredApproval(stored: StoredApproval): Promise<StoredApprovalVerdict> {
  const statement = parseStatement(stored.statement)
  if (!statement) return { verified: false, fault: 'statement' }
  if (!(await isSigned(stored))) return { verified: false, fault: 'assertion' }
  if (!isWithin(statement.time, stored.answeredAt, CHALLENGE_MS))
    return { verified: false, fault: 'answered_late' }
  if (!isWithin(stored.signedInAt, stored.registeredAt, FRESH_SIGN_IN_MS))
    return { verified: false, fault: 'passkey_not_fresh' }
  return { verified: true, statement }
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

async function isSigned(stored: StoredApproval): Promise<boolean> {
  const { passkeyId, publicKey, counterBefore: counter, origin, rpId } = stored
  try {
    await verifyAssertion(
      {
        id: passkeyId,
        rawId: passkeyId,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(stored.clientData),
          authenticatorData: base64url(stored.authenticatorData),
          signature: base64url(stored.signature),
        },
      },
      {
        challenge: challengeOfStatement(stored.statement),
        party: { id: rpId, origin },
        passkey: { passkeyId, publicKey, counter },
      },
    )
    return true
  } catch (error) {
    if (error instanceof ApprovalProblem) return false
    throw error
  }
}

function isWithin(start: string, end: string, maximumMs: number): boolean {
  const passed = Date.parse(end) - Date.parse(start)
  return passed >= 0 && passed <= maximumMs
}
