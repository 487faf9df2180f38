import { ExchangeError } from '@agent-exchange/sdk'
import { badge, definitionList, html, notice } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { PASSKEY_TEXTS } from './texts/draft-texts.ts'
import { draftPage, examinedPage } from './draft-page.ts'
import { examineDraft } from './examined-draft.ts'
import { textOf } from './object-view.ts'
import type { PasskeyDecisions } from './passkey-decisions.ts'
import { passkeyForm } from './passkey-form.ts'

/** The second step: what will be signed, in words, and the button that asks the passkey. */
export async function askForPasskey(call: DeskCall, passkeys: PasskeyDecisions): Promise<DeskAnswer> {
  const { agent, fields, id, csrfToken, person } = call
  const [digest, decision] = [fields.get('digest') ?? '', fields.get('decision') ?? '']
  const reason = (fields.get('reason') ?? '').trim()
  if (decision !== 'approved' && decision !== 'declined')
    throw new ExchangeError('input_invalid', { what: 'Choose to approve or to decline.' })
  if (decision === 'declined' && reason === '')
    return draftPage(call, { errors: { reason: PASSKEY_TEXTS.reasonMissing } })
  // The page offers no approval of what cannot be sent. Here the checks may have changed since.
  const examined = await examineDraft(agent, id)
  if (decision === 'approved' && examined.verdict !== 'passes')
    return examinedPage(call, examined, { reason, isRefused: true })
  const { draft } = examined
  const options = await passkeys.options({ draftId: id, digest, decision })
  return {
    kind: 'page',
    title: decision === 'approved' ? PASSKEY_TEXTS.approveTitle : PASSKEY_TEXTS.declineTitle,
    section: 'drafts',
    main: html`<p>${PASSKEY_TEXTS.signs}</p>
      ${definitionList([
        ['Decision', decision === 'approved' ? badge('good', decision) : badge('bad', decision)],
        ['By', textOf(person.name)],
        ['For', html`${textOf(draft.recipient.agentId)} of ${textOf(draft.recipient.organizationId)}`],
        ['Purpose', textOf(draft.policy.purpose)],
        ['Digest of the draft', textOf(draft.digest)],
        ...(reason === '' ? [] : ([['Reason, not signed', textOf(reason)]] as const)),
      ])}
      ${notice({ tone: 'info', title: PASSKEY_TEXTS.trust, text: PASSKEY_TEXTS.trustText })}
      ${passkeyForm({
        id: 'confirm',
        action: pathTo('drafts', id, '/confirm'),
        csrfToken,
        ceremony: 'get',
        options,
        label: decision === 'approved' ? PASSKEY_TEXTS.confirmApproval : PASSKEY_TEXTS.confirmDecline,
        fields: { digest, reason },
      })}
      <p><a href="${pathTo('drafts', id)}">${PASSKEY_TEXTS.back}</a></p>`,
  }
}

/** Records what the passkey signed. */
export async function confirmDecision({ agent, fields, id }: DeskCall): Promise<DeskAnswer> {
  if (!agent.passkeys) throw new ExchangeError('approver_missing')
  const [digest, answer, reason] = ['digest', 'answer', 'reason'].map((name) => fields.get(name) ?? '')
  const done = await agent.passkeys.confirm({
    draftId: id,
    digest: digest ?? '',
    answer: answer ?? '',
    reason: reason ?? '',
  })
  return {
    kind: 'redirect',
    to: pathTo('drafts', id),
    done: done === 'approved' ? 'approval_recorded' : done,
  }
}
