import { problems, type Failure } from '@agent-exchange/protocol'
import { html, notice, type Html } from '@agent-exchange/web'
import type { Problem } from '../kernel/problem.ts'
import type { Flash } from './console-page.ts'

/** What happened and what to do, as a message. */
export function problemFlash(problem: Problem): Flash {
  return {
    tone: 'bad',
    title: `Nothing was changed. ${problems[problem.code].title}.`,
    text: adviceOf(problem),
  }
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
  const { failures, exists, state, hint, required_role: required, role } = details as Partial<Details>
  if (required !== undefined)
    return `This needs the role ${required}; yours is ${role}. An administrator can change it: aex operator set-role.`
  if (failures) return failures.map(({ pointer, message }) => `${fieldOf(pointer)}: ${message}`).join(' ')
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
}

function fieldOf(pointer: string): string {
  return pointer.split('/').slice(1).join(' ').replaceAll('_', ' ') || 'The request'
}
