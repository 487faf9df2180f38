import type { DeploymentProfile } from '@agent-exchange/protocol'
import { badge, html, table, type Html } from '@agent-exchange/web'
import type { FastifyInstance } from 'fastify'
import { describeOpenPoints, type DescribedOpenPoint } from '../../kernel/open-point-description.ts'
import { htmlPage } from './html-page.ts'
import { jsonPage } from './page.ts'
import { redirectTo, serveEither, type TwoForms } from './serve.ts'

/** The page that `x-open-point` refers to: each open point with our choice and the value in this deployment. */
export function registerOpenPoints(app: FastifyInstance, profile: DeploymentProfile): void {
  serveEither(app, '/open-points/', () => forms(profile))
  redirectTo(app, '/open-points', '/open-points/')
}

function forms(profile: DeploymentProfile): TwoForms {
  const points = describeOpenPoints(profile)
  const main = html`<p class="lead">
      The specification leaves these questions open. The answers are choices of this project and of this
      deployment, not part of the protocol. Values that differ from the default are marked.
    </p>
    <nav aria-label="Open points">
      <ul class="plain">
        ${points.map(entry)}
      </ul>
    </nav>
    ${points.map(section)}`
  return {
    html: htmlPage({ title: 'Open points', main, root: '../', place: 'open-points/' }),
    json: jsonPage(points),
  }
}

function entry({ id, meaning, settings }: DescribedOpenPoint): Html {
  const isChanged = settings.some(
    ({ value, default: usual }) => JSON.stringify(value) !== JSON.stringify(usual),
  )
  return html`<li>
    <a href="#${id.toLowerCase()}">${id}</a> ${meaning} ${isChanged && badge('warn', 'set here')}
  </li>`
}

function section({ id, meaning, why, settings }: DescribedOpenPoint): Html {
  const rows = settings.map(({ name, meaning: what, value, default: fallback }) => {
    const [here, usual] = [JSON.stringify(value), JSON.stringify(fallback)]
    const note = here !== usual && html` <small>default <code>${usual}</code></small>`
    return [html`<code>${name}</code>`, html`<code>${here}</code>${note}`, what]
  })
  return html`<section id="${id.toLowerCase()}">
    <h2>${id}: ${meaning.replace(/\.$/u, '')}</h2>
    <p>${why}</p>
    ${table({
      caption: `Settings of ${id}`,
      hidesCaption: true,
      columns: [{ title: 'Setting' }, { title: 'Value' }, { title: 'Meaning' }],
      rows,
    })}
  </section>`
}
