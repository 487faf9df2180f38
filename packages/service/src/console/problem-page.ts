import { problems, type Failure } from '@agent-exchange/protocol'
import { html, notice, type Html } from '@agent-exchange/web'
import type { Problem } from '../kernel/problem.ts'
import type { Flash } from './console-page.ts'
import type { Fields } from './fields.ts'

/** Why a form was refused, as a message. */
export function problemFlash(problem: Problem, form: Fields): Flash {
  const errors = Object.entries(fieldErrors(problem, form))
  if (errors.length === 0)
    return {
      tone: 'bad',
      title: `Nothing was changed. ${problems[problem.code].title}.`,
      text: adviceOf(problem),
    }
  return {
    tone: 'bad',
    title: 'Nothing was changed. Please correct the form.',
    text: errors.map(([name, message]) => `${labelOf(name)}: ${message}`).join(' '),
  }
}

/** What is wrong with single fields of a form, by the names of the members that they become. */
export function fieldErrors({ details }: Problem, form: Fields): Record<string, string> {
  const { failures = [] } = details as Partial<Details>
  return Object.fromEntries(
    failures.map(({ pointer, message }) => {
      const name = pointer.slice(1)
      const typed = form.all(name)
      // The message of the API speaks of a missing member, which in a form is an empty field.
      const isEmpty = typed.length > 0 && typed.every((value) => value.trim() === '')
      return [name, isEmpty ? 'This is required.' : message]
    }),
  )
}

/** The same as the content of a page. */
export function problemContent(problem: Problem, correlationId: string): { title: string; main: Html } {
  const { title, status } = problems[problem.code]
  return {
    title,
    main: html`${notice({ tone: status >= 500 ? 'bad' : 'warn', title: adviceOf(problem) })}
      <p class="quiet">Correlation id: <code>${correlationId}</code></p>
      <p><a href="/">Back to the overview</a></p>`,
  }
}

function adviceOf({ code, details }: Problem): string {
  const { failures, exists, state, hint, required_role: required, role, origin } = details as Partial<Details>
  const { csrf_token: csrf, retry_after_seconds: wait } = details as Partial<Details>
  if (origin !== undefined)
    return 'The console does not answer under this address. Use the address of its listener, or set AEX_OPERATOR_PUBLIC_URL.'
  if (csrf !== undefined)
    return 'The form is out of date, or it came from another site. Go back, load the page again and send it again.'
  if (wait !== undefined) return `Wait ${Math.ceil(wait / 60)} min. before you try again.`
  if (required !== undefined)
    return `This needs the role ${required}; yours is ${role}. An administrator can change it: aex operator set-role.`
  if (failures)
    return failures.map(({ pointer, message }) => `${labelOf(pointer.slice(1))}: ${message}`).join(' ')
  if (exists !== undefined) return `${exists} exists already. Use another name.`
  if (hint !== undefined) return hint
  if (state !== undefined)
    return `The current state is ${state}. Load the page again to see what is possible now.`
  if (code === 'resource_not_found')
    return 'There is no such thing. It may have been deleted, or the id is misspelled.'
  if (code === 'cursor_invalid') return 'This page of the list is no longer valid. Start with the first page.'
  return problems[code].advice
}

interface Details {
  readonly failures: readonly Failure[]
  readonly exists: string
  readonly state: string
  readonly hint: string
  readonly required_role: string
  readonly role: string
  readonly origin: string
  readonly csrf_token: string
  readonly retry_after_seconds: number
}

function labelOf(name: string): string {
  const words = name.replaceAll(/[/_]/gu, ' ')
  return words === '' ? 'The request' : words.charAt(0).toUpperCase() + words.slice(1)
}
