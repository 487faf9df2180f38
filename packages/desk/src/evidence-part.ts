import { visibleText } from '@agent-exchange/log'
import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'
import { badge, buttonLink, confirmation, html, type Html } from '@agent-exchange/web'
import { pathTo } from './desk-call.ts'
import { EVIDENCE_TEXTS as T } from './texts/story-texts.ts'
import type { ThreadVerdict, VerdictOutcome } from './thread-verdicts.ts'

/** The verdict of a thread, and what to give to somebody who asks for proof. */
export function evidenceSection(
  { threadId }: ThreadStory,
  verdict: VerdictOutcome,
  viewer: { readonly csrfToken: string; readonly canDisclose: boolean },
): Html {
  const body =
    verdict instanceof ExchangeError
      ? notCollected(verdict)
      : html`${verdict === 'late' ? html`<p>${T.notVerified}</p>` : verdictView(verdict)}
        ${evidenceLinks(threadId, buttonLink(pathTo('evidence', threadId), T.details))}
        ${viewer.canDisclose && disclosureForm(threadId, viewer.csrfToken)}`
  return html`<section class="story-part plain-section">
    <h2>${T.heading}</h2>
    ${body}
  </section>`
}

/** The files would fail for the same reason. */
function notCollected({ code, message }: ExchangeError): Html {
  return html`<p>${T.notCollected} ${visibleText(message)} <span class="quiet">(${code})</span></p>`
}

/** A word, and the sentence that can be quoted. */
export function verdictView({ word, tone, sentence }: ThreadVerdict): Html {
  return html`<p class="verdict">${badge(tone, T.words[word])} ${visibleText(sentence)}</p>`
}

/** `details` is a link to the page of the evidence, for other pages. */
export function evidenceLinks(id: string, details?: Html): Html {
  return html`<p class="actions">
    ${details} ${buttonLink(pathTo('evidence', id, '/capsule.json'), T.download)}
    ${buttonLink(pathTo('evidence', id, '/report.html'), T.print)}
  </p>`
}

/** The file without content is the download above. With content, whoever gets it can read the packages. */
function disclosureForm(threadId: string, csrfToken: string): Html {
  return confirmation({
    summary: T.forAuditor,
    explanation: T.forAuditorExplanation,
    form: {
      id: 'disclose',
      action: pathTo('evidence', threadId, '/with-content.json'),
      csrfToken,
      fields: [],
      submit: { label: T.withContent, tone: 'primary' },
    },
  })
}
