import { ExchangeError, type SentDraft } from '@agent-exchange/sdk'
import { badge, buttonLink, definitionList, html, identifier } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { textOf } from './object-view.ts'
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
      return sentDraftPage(sent)
    }
  }
}

/** Where a link to the draft leads after it was sent. The content is in the conversation. */
function sentDraftPage({ packageId, threadId, sentAt, decision }: SentDraft): DeskAnswer {
  return {
    kind: 'page',
    title: 'Sent draft',
    section: 'drafts',
    main: html`${definitionList([
        ['State', badge('good', 'sent')],
        ['Sent', second(sentAt)],
        ...(decision
          ? ([
              ['Approved by', textOf(decision.name)],
              ['Reason', textOf(decision.reason)],
            ] as const)
          : []),
        ['Package', identifier(packageId)],
        ['Thread', identifier(threadId, pathTo('threads', threadId))],
      ])}
      <p>The exchange accepted the package.</p>
      <p>${buttonLink(pathTo('threads', threadId), 'Read the conversation')}</p>`,
  }
}
