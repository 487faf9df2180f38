import { CommandFailure } from '../packages/cli/src/failure.ts'

/** A person's visit to the desk, to approve one draft. */
export interface DeskVisit {
  /** The one-time link that the desk prints in its terminal. */
  readonly link: string
  /** Page of the draft, as the model passed it on. */
  readonly page: string
  /** Text that the person expects to read before approving. */
  readonly expected: string
  readonly name: string
  readonly reason: string
  readonly passphrase: string
}

/** Approves by the desk's own HTML forms, as a browser without script would. */
export async function approveByForms(visit: DeskVisit): Promise<void> {
  const { link, page, expected, name, reason, passphrase } = visit
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const shown = await (await fetch(page, { headers: { cookie } })).text()
  if (!shown.includes(expected)) throw new CommandFailure('The desk does not show the draft.')
  const fields = new URLSearchParams({
    csrf_token: hiddenField(shown, 'csrf_token'),
    digest: hiddenField(shown, 'digest'),
    decision: 'approved',
    name,
    reason,
    passphrase,
  })
  const { origin } = new URL(page)
  const decided = await fetch(`${page}/decide`, {
    method: 'POST',
    headers: { cookie, origin },
    redirect: 'manual',
    body: fields,
  })
  if (!decided.headers.get('location')?.endsWith('?done=approved'))
    throw new CommandFailure(`The desk did not record the approval (status ${decided.status}).`)
}

function hiddenField(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]+)"`, 'u').exec(page)?.[1] ?? ''
}
