import { ExchangeError } from '@agent-exchange/sdk'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { DRAFT_TEXTS as T } from './texts/draft-texts.ts'
import { draftPage, examinedPage } from './draft-page.ts'
import { examineDraft } from './examined-draft.ts'
import { askForPasskey } from './passkey-decision.ts'
import { TooManyTries } from './passphrase-tries.ts'

/** Records the decision, if the passphrase is right and the draft is the one that the person saw. */
export async function decide(call: DeskCall): Promise<DeskAnswer> {
  const { agent, fields, id, now, tries } = call
  if (agent.passkeys) return askForPasskey(call, agent.passkeys)
  const [name, reason, passphrase] = ['name', 'reason', 'passphrase'].map((each) => fields.get(each) ?? '')
  const [digest, decision] = [fields.get('digest') ?? '', fields.get('decision')]
  const values = { name: name ?? '', reason: reason ?? '' }
  const errors = {
    ...(values.name.trim() === '' && { name: T.giveName }),
    ...(values.reason.trim() === '' && { reason: T.giveReason }),
    ...(passphrase === '' && { passphrase: T.givePassphrase }),
  }
  if (Object.keys(errors).length > 0) return draftPage(call, { ...values, errors })
  if (decision !== 'approved' && decision !== 'declined')
    throw new ExchangeError('input_invalid', { what: T.choose })
  if (decision === 'approved') {
    // The page offers no approval of what cannot be sent. Here the checks may have changed since.
    const examined = await examineDraft(agent, id)
    if (examined.verdict !== 'passes') return examinedPage(call, examined, { ...values, isRefused: true })
  }
  try {
    await tries.attempt(() =>
      agent.decide({
        ...values,
        draftId: id,
        digest,
        decision,
        passphrase: passphrase ?? '',
        now,
      }),
    )
  } catch (error) {
    if (error instanceof TooManyTries) return draftPage(call)
    if (error instanceof ExchangeError && error.code === 'approver_locked')
      return draftPage(call, { ...values, errors: { passphrase: T.wrongPassphrase } })
    throw error
  }
  return { kind: 'redirect', to: pathTo('drafts', id), done: decision }
}
