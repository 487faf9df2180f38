import { visibleText } from '@agent-exchange/log'
import type { ThreadStory } from '@agent-exchange/sdk'
import { badge, buttonLink, confirmation, html, type Html } from '@agent-exchange/web'
import { pathTo } from './desk-call.ts'
import { EVIDENCE_TEXTS as T } from './desk-texts.ts'
import type { ThreadVerdict } from './thread-verdicts.ts'

/** The verdict of a thread, and what to give to somebody who asks for proof. */
export function evidenceSection(
  { threadId }: ThreadStory,
  verdict: ThreadVerdict | undefined,
  viewer: { readonly csrfToken: string; readonly canDisclose: boolean },
): Html {
  return html`<section class="story-part plain-section">
    <h2>${T.heading}</h2>
    ${verdict ? verdictView(verdict) : html`<p>${T.notVerified}</p>`} ${evidenceLinks(threadId)}
    ${viewer.canDisclose && disclosureForm(threadId, viewer.csrfToken)}
  </section>`
}

/** A word, and the sentence that can be quoted. */
export function verdictView({ word, tone, sentence }: ThreadVerdict): Html {
  return html`<p class="verdict">${badge(tone, T.words[word])} ${visibleText(sentence)}</p>`
}

export function evidenceLinks(id: string): Html {
  return html`<p class="actions">
    ${buttonLink(pathTo('evidence', id), T.details)}
    ${buttonLink(pathTo('evidence', id, '/capsule.json'), T.download)}
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
