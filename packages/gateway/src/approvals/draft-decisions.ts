import { randomUUID } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { Database } from '@agent-exchange/database'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { SecretBox } from '../stores/secret-box.ts'
import { CHALLENGE_MS, MAXIMUM_REASON_CHARACTERS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'
import { challengeOf, readAssertion } from './browser-answer.ts'
import { issueChallenge, takeChallenge } from './challenges.ts'
import { reasonContext, insertDecision } from './decision-rows.ts'
import { challengeOfStatement, newStatement, parseStatement, subjectFault } from './decision-statement.ts'
import { needsInWords } from './decision-needs.ts'
import { principalOf, type DecidingPerson } from './approving-people.ts'
import { factsOfDraft, readEffectiveRules, type DraftFacts, type EffectiveRules } from './effective-rules.ts'
import { listPasskeys, lockPasskey, recordUse } from './passkey-rows.ts'
import type { PasskeyOptions } from './passkeys.ts'
import { credentialOf } from './passkeys.ts'
import { recordedDecisions, type RecordedDecision } from './recorded-decisions.ts'
import { relyingPartyOf } from './relying-party.ts'
import { verifyAssertion } from './verify-assertion.ts'
import { webauthn } from './webauthn.ts'

/** The draft as the page showed it. */
export interface ShownDraft {
  readonly agentId: string
  /** Read now. */
  readonly draft: StoredDraft
  /** Digest of what the person saw. */
  readonly digest: string
}

/** The decisions, for a person who may decide. */
export interface DecisionsView {
  readonly decisions: readonly RecordedDecision[]
  /** What the rules ask for, in sentences. */
  readonly needs: readonly string[]
  /** Why this person cannot decide. */
  readonly hindrance: string | undefined
}

export interface DraftDecisions {
  /** What the passkey has to sign. Fails with an {@link ApprovalProblem} if this person may not decide. */
  options(
    person: DecidingPerson,
    shown: ShownDraft,
    decision: string,
  ): Promise<PublicKeyCredentialRequestOptionsJSON>
  /** Verifies the answer and records the decision. A decline needs a reason. */
  decide(
    person: DecidingPerson,
    shown: ShownDraft,
    given: { readonly answer: unknown; readonly reason: string },
  ): Promise<'approved' | 'declined'>
  view(person: DecidingPerson, shown: ShownDraft): Promise<DecisionsView>
  /** Of a draft that is sent, too. */
  recorded(agentId: string, draftId: string): Promise<readonly RecordedDecision[]>
}

export interface DraftDecisionOptions extends PasskeyOptions {
  readonly box: SecretBox
  /** Names of people, for other people of the company. */
  readonly namesOf: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

export function openDraftDecisions({
  db,
  publicUrl,
  now,
  box,
  namesOf,
}: DraftDecisionOptions): DraftDecisions {
  /** Undefined if the person may decide. */
  async function hindranceOf(person: DecidingPerson, shown: ShownDraft, rules: EffectiveRules) {
    try {
      relyingPartyOf(publicUrl)
      await principalOf(db, person, { ...placeOf(shown), rules, at: now() })
      await usablePasskeys(db, person, seenFacts(shown))
      return undefined
    } catch (error) {
      if (error instanceof ApprovalProblem) return error.message
      throw error
    }
  }

  return {
    async options(person, shown, decision) {
      const party = relyingPartyOf(publicUrl)
      if (decision !== 'approved' && decision !== 'declined') throw new ApprovalProblem('decision_unknown')
      const facts = seenFacts(shown)
      const rules = await readEffectiveRules(db, shown.agentId, facts)
      const { personId } = person
      const at = now()
      const principal = await principalOf(db, person, { ...placeOf(shown), rules, at })
      const usable = await usablePasskeys(db, person, facts)
      const statement = canonicalize(
        newStatement(facts, rules, {
          approver: personId,
          ...(principal !== personId && { on_behalf_of: principal }),
          decision,
          now: at,
        }),
      )
      const challenge = challengeOfStatement(statement)
      await issueChallenge(db, { challenge, purpose: 'decide', personId }, { now: at, statement })
      const { generateAuthenticationOptions } = await webauthn()
      return generateAuthenticationOptions({
        rpID: party.id,
        challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
        timeout: CHALLENGE_MS,
        userVerification: 'required',
        allowCredentials: usable.map(credentialOf),
      })
    },

    async decide(person, shown, { answer, reason }) {
      const party = relyingPartyOf(publicUrl)
      const { personId } = person
      const { agentId } = shown
      const facts = seenFacts(shown)
      const response = readAssertion(answer)
      const challenge = challengeOf(response.response.clientDataJSON)
      const answeredAt = now()
      const text = await takeChallenge(db, { challenge, purpose: 'decide', personId }, answeredAt)
      const statement = parseStatement(text ?? '')
      if (!statement) throw new ApprovalProblem('challenge_unknown')
      const words = reason.trim()
      if (words.length > MAXIMUM_REASON_CHARACTERS || (words === '' && statement.decision === 'declined'))
        throw new ApprovalProblem('reason_missing')
      const rules = await readEffectiveRules(db, shown.agentId, facts)
      const changed = subjectFault(statement, facts, rules)
      if (changed) throw new ApprovalProblem(changed === 'rule_changed' ? 'rule_changed' : 'draft_changed')
      const principal = await principalOf(db, person, { ...placeOf(shown), rules, at: answeredAt })
      if (principal !== (statement.on_behalf_of ?? personId)) throw new ApprovalProblem('not_an_approver')
      const reference = `approval_${randomUUID()}`
      await db.begin(async (tx) => {
        const passkey = await lockPasskey(tx, response.id)
        if (passkey?.personId !== personId) throw new ApprovalProblem('passkey_unknown')
        if (!isOlder(passkey, facts)) throw new ApprovalProblem('passkey_too_new')
        const counter = await verifyAssertion(response, { challenge, party, passkey })
        const at = answeredAt.toISOString()
        await recordUse(tx, passkey.passkeyId, { counter, at })
        const { clientDataJSON, authenticatorData, signature } = response.response
        await insertDecision(tx, {
          agentId,
          draftId: facts.draftId,
          reference,
          personId,
          decision: statement.decision,
          statement: text ?? '',
          clientData: Buffer.from(clientDataJSON, 'base64url'),
          authenticatorData: Buffer.from(authenticatorData, 'base64url'),
          signature: Buffer.from(signature, 'base64url'),
          passkeyId: passkey.passkeyId,
          publicKey: passkey.publicKey,
          counterBefore: passkey.counter,
          signedInAt: passkey.signedInAt,
          registeredAt: passkey.registeredAt,
          origin: party.origin,
          rpId: party.id,
          answeredAt: at,
          reason: words === '' ? undefined : box.seal(reasonContext(agentId, reference), Buffer.from(words)),
        })
      })
      return statement.decision
    },

    recorded: (agentId, draftId) => recordedDecisions({ db, box, namesOf }, agentId, draftId),

    async view(person, shown) {
      const { agentId, draft } = shown
      const rules = await readEffectiveRules(db, agentId, seenFacts(shown))
      const decisions = await recordedDecisions({ db, box, namesOf }, agentId, draft.draftId)
      const names = await namesOf([...new Set(rules.needs.flatMap(({ approvers }) => approvers))])
      const nameOf = (personId: string) => names.get(personId) ?? personId
      return {
        decisions,
        needs: needsInWords(rules, nameOf),
        hindrance: await hindranceOf(person, shown, rules),
      }
    },
  }
}

function seenFacts({ draft, digest }: ShownDraft): DraftFacts {
  if (draft.digest !== digest) throw new ApprovalProblem('draft_changed')
  return factsOfDraft(draft)
}

const placeOf = ({ agentId, draft: { draftId } }: ShownDraft) => ({ agentId, draftId })

const isOlder = ({ registeredAt }: { readonly registeredAt: string }, { createdAt }: DraftFacts) =>
  Date.parse(registeredAt) < Date.parse(createdAt)

async function usablePasskeys(db: Database, { personId }: DecidingPerson, facts: DraftFacts) {
  const listed = await listPasskeys(db, personId)
  if (listed.length === 0) throw new ApprovalProblem('passkey_missing')
  const usable = listed.filter((each) => isOlder(each, facts))
  if (usable.length === 0) throw new ApprovalProblem('passkey_too_new')
  return usable
}
