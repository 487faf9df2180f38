import type { StoredDraft } from '@agent-exchange/sdk'
import { badge, button, CSRF_FIELD, field, html, table, type Html } from '@agent-exchange/web'
import { pathTo, type DeskCall } from './desk-call.ts'
import { PASSKEY_TEXTS } from './texts/draft-texts.ts'
import type { DecisionValues } from './draft-forms.ts'
import { textOf } from './object-view.ts'
import type { DecisionState } from './passkey-decisions.ts'
import { second } from './shown-times.ts'

/** Who decided so far, what the rules ask for, and the first step of a decision. */
export function passkeyDecisionPart(
  call: DeskCall,
  draft: StoredDraft,
  { state, values, canApprove }: { state: DecisionState; values: DecisionValues; canApprove: boolean },
): Html {
  const { decisions, needs, hindrance } = state
  return html`<ul>
      ${needs.map((sentence) => html`<li>${sentence}</li>`)}
    </ul>
    ${decisions.length > 0 && decisionTable(decisions)}
    ${hindrance === undefined ? firstStep(call, draft, { values, canApprove }) : html`<p>${hindrance}</p>`}`
}

export function decisionTable(decisions: DecisionState['decisions']): Html {
  return table({
    caption: PASSKEY_TEXTS.decisions,
    columns: PASSKEY_TEXTS.decisionColumns.map((title) => ({ title })),
    rows: decisions.map(({ person, onBehalfOf, decision, at, reason }) => [
      badge(decision === 'approved' ? 'good' : 'bad', decision),
      onBehalfOf === undefined
        ? textOf(person)
        : html`${textOf(person)} ${PASSKEY_TEXTS.onBehalfOf} ${textOf(onBehalfOf)}`,
      second(at),
      textOf(reason),
    ]),
  })
}

function firstStep(
  { csrfToken }: DeskCall,
  draft: StoredDraft,
  { values, canApprove }: { values: DecisionValues; canApprove: boolean },
): Html {
  const { reason, errors = {} } = values
  return html`<form action="${pathTo('drafts', draft.draftId, '/decide')}" method="post" id="decide">
    <input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />
    ${field('decide', { kind: 'hidden', name: 'digest', value: draft.digest })}
    ${field('decide', {
      kind: 'textarea',
      name: 'reason',
      label: PASSKEY_TEXTS.reason,
      hint: PASSKEY_TEXTS.reasonHint,
      maxLength: 2_000,
      ...(reason !== undefined && { value: reason }),
      ...(errors.reason !== undefined && { error: errors.reason }),
    })}
    <p class="actions">
      ${canApprove && button({ label: PASSKEY_TEXTS.approve, tone: 'primary', name: 'decision', value: 'approved' })}
      ${button({ label: PASSKEY_TEXTS.decline, tone: 'danger', name: 'decision', value: 'declined' })}
    </p>
  </form>`
}
