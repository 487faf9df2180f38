import { html } from '@agent-exchange/web'
import { readOrganization } from '../../operator/routes/organizations.ts'
import type { ConsoleCall } from '../console-page.ts'
import { commandLine } from '../console-parts.ts'

/** An export may be large, so it goes straight to a file. */
export async function showExport({ api, params, show }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const { name } = await api(readOrganization, { params: { organization_id: id } })
  const main = html`<p class="lead">The export may be large. Run this where it is to be stored:</p>
    ${commandLine(`aex org export ${id} --out ${id}.ndjson --reason "request of the organization"`)}
    <p>The file has one JSON object a line, each with <code>type</code> and <code>data</code>:</p>
    <ul>
      <li>the organization with its use of quotas, its clients, invitations, connectors and endpoints,</li>
      <li>its agents with their public keys and the history of these keys,</li>
      <li>the evidence of every package that it sent or received, as it can read it itself,</li>
      <li>its notifications and alerts.</li>
    </ul>
    <p>
      It never holds content, secrets or private keys. The last line has the type <code>end</code>; without
      it, the file is incomplete. The export is recorded in the
      <a href="/operator-log?target=${id}">operator log</a>.
    </p>
    <p><a href="/organizations/${id}">Back to the organization</a></p>`
  return show({ title: `Export of ${name}`, main })
}
