import type { Database } from '@agent-exchange/database'
import { ExchangeError } from '@agent-exchange/sdk'
import type { DraftApprovals } from '@agent-exchange/sdk/internal'
import { listDecisions } from './decision-rows.ts'
import { factsOfSubject, readEffectiveRules } from './effective-rules.ts'
import { areEnough, countingApprovals, isDecline, judgeDecisions } from './judge-decisions.ts'
import { findRelyingParty } from './relying-party.ts'

/** People approve the drafts of an agent with their passkeys. Every assertion is verified again before anything is sealed. */
export function passkeyApprovals(
  db: Database,
  { agentId, publicUrl }: { readonly agentId: string; readonly publicUrl: string },
): DraftApprovals {
  const party = findRelyingParty(publicUrl)
  return {
    isRequired: async (subject) => (await readEffectiveRules(db, agentId, factsOfSubject(subject))).isRuled,
    isDecided: async ({ record }) => (await listDecisions(db, agentId, record.draft_id)).length > 0,

    async require(subject, times) {
      const facts = factsOfSubject(subject)
      const { draftId } = facts
      const rules = await readEffectiveRules(db, agentId, facts)
      const decisions = await listDecisions(db, agentId, draftId)
      const judged = await judgeDecisions(db, decisions, { facts, rules }, { agentId, party, ...times })
      const counting = judged.filter(({ fault }) => fault === undefined)
      if (counting.some(isDecline)) throw new ExchangeError('approval_declined', { details: { draftId } })
      const last = counting.toSorted((a, b) => compare(a.decision.answeredAt, b.decision.answeredAt)).at(-1)
      if (last?.statement && areEnough(countingApprovals(judged), rules))
        return { reference: last.decision.reference, approvedAt: last.statement.time }
      const refused = judged.find(({ fault }) => fault !== undefined)
      if (refused)
        throw new ExchangeError('approval_invalid', { details: { draftId, reason: refused.fault } })
      throw new ExchangeError('approval_waiting', { details: { draftId } })
    },
  }
}

const compare = (left: string, right: string) => (left < right ? -1 : Number(left > right))
