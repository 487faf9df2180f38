import { html, table } from '@agent-exchange/web'
import { readSettings } from '../../operator/routes/profile.ts'
import { get, type ConsoleCall, type ConsolePage } from '../console-page.ts'

export const settingsPages: readonly ConsolePage[] = [get('/settings', list, 'operator')]

async function list({ api, show }: ConsoleCall) {
  const { items } = await api(readSettings)
  const main = html`<p class="lead">
      What the process that answered this page runs with. Settings are environment variables; a change needs a
      restart.
    </p>
    ${table({
      caption: 'Settings',
      hidesCaption: true,
      columns: [{ title: 'Variable' }, { title: 'Value' }],
      rows: items.map(({ name, value }) => [html`<code>${name}</code>`, value]),
    })}`
  return show({ title: 'Settings', main })
}
