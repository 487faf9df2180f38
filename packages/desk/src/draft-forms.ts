import type { StoredDraft } from '@agent-exchange/sdk'
import {
  button,
  confirmation,
  CSRF_FIELD,
  field,
  form,
  html,
  notice,
  type Field,
  type Html,
} from '@agent-exchange/web'
import { pathTo, type DeskCall } from './desk-call.ts'
import { DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { PLACE_TEXTS } from './texts/page-texts.ts'

/** What a refused form had in it. The passphrase is never shown again. */
export interface DecisionValues {
  readonly name?: string
  readonly reason?: string
  /** The decision was refused for a reason that the page states. */
  readonly isRefused?: boolean
  readonly errors?: Readonly<Partial<Record<'name' | 'reason' | 'passphrase', string>>>
}

const MINUTE_MS = 60_000

/** Approve or decline. The digest says what the person saw. */
export function decisionForm(
  call: DeskCall,
  draft: StoredDraft,
  values: DecisionValues & { readonly canApprove: boolean },
): Html {
  const wait = call.tries.waitMs()
  if (wait > 0)
    return notice({
      tone: 'bad',
      title: T.tooManyTries,
      text: T.locked(Math.ceil(wait / MINUTE_MS)),
    })
  const { name, reason, errors = {} } = values
  const fields: Field[] = [
    { kind: 'hidden', name: 'digest', value: draft.digest },
    {
      kind: 'text',
      name: 'name',
      label: T.yourName,
      hint: T.staysInFolder,
      isRequired: true,
      maxLength: 200,
      autocomplete: 'name',
      ...(name !== undefined && { value: name }),
      ...(errors.name !== undefined && { error: errors.name }),
    },
    {
      kind: 'textarea',
      name: 'reason',
      label: T.reason,
      isRequired: true,
      maxLength: 2_000,
      ...(reason !== undefined && { value: reason }),
      ...(errors.reason !== undefined && { error: errors.reason }),
    },
    {
      kind: 'password',
      name: 'passphrase',
      label: T.passphrase,
      isRequired: true,
      autocomplete: 'off',
      ...(errors.passphrase !== undefined && { error: errors.passphrase }),
    },
  ]
  return html`<form action="${pathTo('drafts', draft.draftId, '/decide')}" method="post" id="decide">
    <input type="hidden" name="${CSRF_FIELD}" value="${call.csrfToken}" />
    ${fields.map((given) => field('decide', given))}
    <p class="actions">
      ${values.canApprove && button({ label: T.approve, tone: 'primary', name: 'decision', value: 'approved' })}
      ${button({ label: T.decline, tone: 'danger', name: 'decision', value: 'declined' })}
    </p>
  </form>`
}

export function sendForm({ csrfToken }: DeskCall, { draftId }: StoredDraft): Html {
  return form({
    id: 'send',
    action: pathTo('drafts', draftId, '/send'),
    csrfToken,
    fields: [],
    submit: { label: T.send },
  })
}

export function discardForm({ csrfToken, agent }: DeskCall, draftId: string): Html {
  return confirmation({
    summary: T.discard,
    explanation: PLACE_TEXTS[agent.place].discard,
    form: {
      id: `discard-${draftId}`,
      action: pathTo('drafts', draftId, '/discard'),
      csrfToken,
      fields: [],
      submit: { label: T.discardNow },
    },
  })
}
