import { form, html, notice, table, type Html, type FormState } from '@agent-exchange/web'
import { hasRole } from '../../kernel/operator-roles.ts'
import {
  continueOrganizationEnd,
  endOrganization,
  readEndPlan,
} from '../../operator/routes/organization-end.ts'
import type { ConsoleCall } from '../console-page.ts'
import { commandLine, outsideText, pathTo, REASON, statusBadge } from '../console-parts.ts'
import { timeOf } from '../time.ts'

type Plan = Awaited<ReturnType<typeof readEndPlan.run>>
const NUMBER = new Intl.NumberFormat('en')
/** Steps of one click; the service continues by itself. */
const STEPS_PER_CLICK = 20

export async function showEnd({ api, params, show, operator, formState, now }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const plan = await api(readEndPlan, { params: { organization_id: id } })
  const { end } = plan
  const main = html`<p class="lead">
      ${end ? 'This organization has ended.' : 'Read this first: the end of an organization cannot be undone.'}
    </p>
    ${end && progress(id, end, { now, formState, mayContinue: hasRole(operator, 'administrator') })}
    <h2>${end ? 'Still to be removed' : 'What is removed'}</h2>
    ${table({
      caption: 'What is removed',
      hidesCaption: true,
      columns: [{ title: 'What' }, { title: 'Count', isNumeric: true }, { title: 'How' }],
      rows: plan.removed.map(({ what, count, or_more, how }) => [
        what.replaceAll('_', ' '),
        `${or_more ? 'more than ' : ''}${NUMBER.format(count)}`,
        how,
      ]),
    })}
    <h2>What is kept, and why</h2>
    ${table({
      caption: 'What is kept',
      hidesCaption: true,
      columns: [{ title: 'What' }, { title: 'Count', isNumeric: true }, { title: 'Why' }],
      rows: plan.retained.map(({ what, count, why }) => [
        what,
        count === undefined ? '' : NUMBER.format(count),
        why,
      ]),
    })}
    ${!end && (hasRole(operator, 'administrator') ? ending(plan, formState) : html`<p class="quiet">Only an administrator can end an organization.</p>`)}`
  return show({ title: `End of ${plan.name}`, main })
}

function ending({ organization_id: id }: Plan, formState: FormState): Html {
  return html`<h2>End it</h2>
    <p>Access ends at once. Export the data first if the organization or the law asks for it:</p>
    ${commandLine(`aex org export ${id} --out ${id}.ndjson`)}
    ${form({
      id: 'end',
      action: `${pathTo('organizations', id)}/end`,
      ...formState,
      fields: [
        { kind: 'text', name: 'confirm', label: `Type ${id} to confirm`, isRequired: true, maxLength: 256 },
        REASON,
      ],
      submit: { label: 'End organization for ever', tone: 'danger' },
      cancel: { href: pathTo('organizations', id), label: 'Cancel' },
    })}`
}

interface ProgressParts {
  readonly now: Date
  readonly formState: FormState
  readonly mayContinue: boolean
}

function progress(
  id: string,
  end: NonNullable<Plan['end']>,
  { now, formState, mayContinue }: ProgressParts,
): Html {
  const removed = Object.entries(end.removed).filter(([, count]) => count > 0)
  return html`<p>
      ${statusBadge(end.state)} Ended by ${outsideText(end.started_by)} ${timeOf(end.started_at, now)}:
      ${outsideText(end.reason)}
    </p>
    ${
      removed.length > 0 &&
      table({
        caption: 'Removed so far',
        columns: [{ title: 'What' }, { title: 'Count', isNumeric: true }],
        rows: removed.map(([what, count]) => [what.replaceAll('_', ' '), NUMBER.format(count)]),
      })
    }
    ${
      end.state === 'removing' &&
      html`${notice({ tone: 'info', title: 'The service removes the data in steps, every minute, also without you.' })}
      ${
        mayContinue &&
        form({
          id: 'continue',
          action: `${pathTo('organizations', id)}/end/continue`,
          ...formState,
          fields: [],
          submit: { label: 'Continue now' },
        })
      }`
    }`
}

export async function endOne({ api, params, form: fields, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  const input = { confirm: fields.get('confirm'), reason: fields.get('reason') }
  await api(endOrganization, { params: { organization_id: id }, input })
  return redirect(`${pathTo('organizations', id)}/end`, {
    tone: 'good',
    title: `${id} has ended. Its access is closed.`,
    text: 'Its data is removed in steps.',
  })
}

export async function continueOne({ api, params, redirect }: ConsoleCall) {
  const id = params['organization_id'] ?? ''
  for (let step = 0; step < STEPS_PER_CLICK; step++) {
    const { state } = await api(continueOrganizationEnd, { params: { organization_id: id } })
    if (state === 'finished') break
  }
  return redirect(`${pathTo('organizations', id)}/end`)
}
