import { buttonLink, html, shortIdentifier, table } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { CONTENT_ROLES, EVIDENCE_ROLES, hasOneOf } from './desk-person.ts'
import { DRAFT_TEXTS } from './texts/draft-texts.ts'
import { EVIDENCE_TEXTS, TEXTS } from './texts/story-texts.ts'
import { overviewPage } from './overview-page.ts'
import { ago } from './shown-times.ts'

/** What a person sees first. Whoever may not read content gets no title, because titles are content. */
export async function startPage(call: DeskCall): Promise<DeskAnswer> {
  if (hasOneOf(call.person, CONTENT_ROLES)) return overviewPage(call)
  if (hasOneOf(call.person, EVIDENCE_ROLES)) return threadsWithEvidence(call)
  return {
    kind: 'page',
    title: TEXTS.desk,
    section: 'overview',
    main: html`<p>${TEXTS.administratorOnly}</p>`,
  }
}

async function threadsWithEvidence({ agent, now }: DeskCall): Promise<DeskAnswer> {
  const threads = await agent.threads()
  return {
    kind: 'page',
    title: TEXTS.desk,
    section: 'overview',
    main: html`<p>${TEXTS.evidenceOnly}</p>
      ${table({
        caption: TEXTS.conversations,
        columns: [
          { title: DRAFT_TEXTS.thread },
          { title: TEXTS.lastEvent },
          { title: TEXTS.packages, isNumeric: true },
          { title: EVIDENCE_TEXTS.title },
        ],
        rows: threads.map(({ threadId, last, packages }) => [
          shortIdentifier(threadId),
          html`${last.event_type.replaceAll(/[._]/gu, ' ')} ${ago(last.occurred_at, now)}`,
          packages,
          buttonLink(pathTo('evidence', threadId), TEXTS.evidence),
        ]),
        empty: { title: TEXTS.noConversation, text: TEXTS.noConversationText },
      })}`,
  }
}
