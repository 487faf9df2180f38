import assert from 'node:assert/strict'

interface Decision {
  readonly draftId: string
  readonly passphrase: string
}

/** What a person does at the desk with a browser, by requests: opens the link and approves the draft. */
export async function approveAtDesk(link: string, { draftId, passphrase }: Decision): Promise<void> {
  const { origin } = new URL(link)
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await (await fetch(`${origin}/drafts/${draftId}`, { headers: { cookie } })).text()
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`, 'u').exec(page)?.[1] ?? ''
  const decided = await fetch(`${origin}/drafts/${draftId}/decide`, {
    method: 'POST',
    body: new URLSearchParams({
      csrf_token: hidden('csrf_token'),
      digest: hidden('digest').replaceAll('&#61;', '='),
      name: 'Ada Example',
      reason: 'Checked.',
      passphrase,
      decision: 'approved',
    }),
    headers: { cookie, origin },
    redirect: 'manual',
  })
  assert.equal(decided.headers.get('location'), `/drafts/${draftId}?done=approved`, await decided.text())
}
