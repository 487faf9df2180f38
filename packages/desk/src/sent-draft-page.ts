import { ExchangeError, type SentDraft } from '@agent-exchange/sdk'
import { badge, buttonLink, definitionList, html, identifier, type Html } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { textOf } from './object-view.ts'
import { decisionTable } from './passkey-decision-part.ts'
import { second } from './shown-times.ts'

/** Handles an open draft. If the draft was sent meanwhile, by the agent or in another window, shows that. */
export function orSentDraft(handle: (call: DeskCall) => Promise<DeskAnswer>) {
  return async (call: DeskCall): Promise<DeskAnswer> => {
    try {
      return await handle(call)
    } catch (error) {
      const isSent = error instanceof ExchangeError && error.code === 'draft_sent'
      const sent = isSent ? await call.agent.drafts.findSent(call.id) : undefined
      if (!sent) throw error
      return sentDraftPage(call, sent)
    }
  }
}

/** Where a link to the draft leads after it was sent. The content is in the conversation. */
async function sentDraftPage(
  call: DeskCall,
  { draftId, packageId, threadId, sentAt, decision }: SentDraft,
): Promise<DeskAnswer> {
  return {
    kind: 'page',
    title: T.sentDraft,
    section: 'drafts',
    main: html`${definitionList([
        [T.state, badge('good', T.sentState)],
        [T.sent, second(sentAt)],
        ...(decision
          ? ([
              [T.approvedBy, textOf(decision.name)],
              [T.reason, textOf(decision.reason)],
            ] as const)
          : []),
        [T.package, identifier(packageId)],
        [T.thread, identifier(threadId, pathTo('threads', threadId))],
      ])}
      <p>${T.accepted}</p>
      ${await recordedPart(call, draftId, decision !== undefined)}
      <p>${buttonLink(pathTo('threads', threadId), T.readConversation)}</p>`,
  }
}

/** At a gateway: everybody who decided. */
async function recordedPart(
  { agent }: DeskCall,
  draftId: string,
  isApproved: boolean,
): Promise<Html | false> {
  const decisions = (await agent.passkeys?.recorded(draftId)) ?? []
  return decisions.length > 0 ? decisionTable(decisions) : !isApproved && html`<p>${T.nobodyHadTo}</p>`
}
