import { badge, html, table } from '@agent-exchange/web'
import { Problem } from '../../kernel/problem.ts'
import { readProfile } from '../../operator/routes/profile.ts'
import { get, type ConsoleCall, type ConsolePage } from '../console-page.ts'

export const openPointsPages: readonly ConsolePage[] = [
  get('/open-points', list),
  get('/open-points/:id', showPoint),
]

async function list({ api, show }: ConsoleCall) {
  const { items } = await api(readProfile)
  const changed = items.filter(({ is_overridden }) => is_overridden).length
  const main = html`<p class="lead">
      The specification leaves these questions open. The deployment profile (AEX_PROFILE) answers them;
      ${changed === 0 ? 'this exchange runs with all defaults' : `${changed} of them differ from the default here`}.
    </p>
    ${table({
      caption: 'Open points',
      hidesCaption: true,
      columns: [{ title: 'Id' }, { title: 'Question' }, { title: 'Here' }],
      rows: items.map(({ id, meaning, is_overridden }) => [
        html`<a href="/open-points/${id}">${id}</a>`,
        meaning,
        is_overridden ? badge('warn', 'set here') : badge('neutral', 'default'),
      ]),
    })}`
  return show({ title: 'Open points', main })
}

async function showPoint({ api, params, show }: ConsoleCall) {
  const { items } = await api(readProfile)
  const point = items.find(({ id }) => id === params['id'])
  if (!point) throw new Problem('resource_not_found')
  const main = html`<p class="lead">${point.meaning}</p>
    <p>${point.why}</p>
    ${table({
      caption: `Settings of ${point.id}`,
      hidesCaption: true,
      columns: [{ title: 'Setting' }, { title: 'Value here' }, { title: 'Default' }, { title: 'Meaning' }],
      rows: point.settings.map(({ name, value, default: usual, meaning }) => {
        const [here, normal] = [JSON.stringify(value), JSON.stringify(usual)]
        return [
          html`<code>${name}</code>`,
          html`<code>${here}</code> ${here !== normal && badge('warn', 'set here')}`,
          html`<code>${normal}</code>`,
          meaning,
        ]
      }),
    })}
    <p><a href="/open-points">All open points</a></p>`
  return show({ title: point.id, main })
}
