import { buttonLink, html, type Html } from '@agent-exchange/web'
import { hasRole, type Operator } from '../kernel/operator-roles.ts'
import type { readOrganizations } from '../operator/routes/organizations.ts'

type Organizations = Pick<Awaited<ReturnType<typeof readOrganizations.run>>, 'items' | 'has_more'>

/** Whether there is no organization beside that of the exchange itself. */
export function isFirstRun({ items, has_more }: Organizations): boolean {
  return !has_more && items.every(({ is_platform }) => is_platform)
}

/** What to do with an exchange that nobody uses yet. */
export function firstSteps(operator: Operator): Html {
  const creation = hasRole(operator, 'operator')
    ? html`<p>${buttonLink('/organizations/new', 'Create an organization', 'primary')}</p>`
    : html`<p>Your role reads. An operator creates organizations.</p>`
  return html`<section class="panel">
    <h2>Create your first organization</h2>
    <p>Three steps lead to the first package:</p>
    <ol>
      <li><strong>Create an organization</strong> for each company that exchanges packages here.</li>
      <li><strong>Invite its agent.</strong> You get one command, and the developer of the agent runs it.</li>
      <li>
        <strong>Send a package.</strong> When the agents of two organizations have joined, one sends, and the
        package appears under <a href="/packages">Packages</a>.
      </li>
    </ol>
    ${creation}
    <p class="quiet">
      To watch two companies do it on your machine: <code>npm run demo</code> in a checkout of the repository
    </p>
  </section>`
}
