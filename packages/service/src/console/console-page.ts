import type { FormState, Html, PageContent, Tone } from '@agent-exchange/web'
import type { Operator, OperatorRole } from '../kernel/operator-roles.ts'
import type { ChangeRoute, ReadRoute } from '../operator/route.ts'
import type { Fields } from './fields.ts'

/** One page, or one action of a form. */
export interface ConsolePage {
  readonly method: 'GET' | 'POST'
  /** Such as `/organizations/:organization_id`. */
  readonly path: string
  /** The least role that may open it. The routes that it calls check theirs as well. */
  readonly role: OperatorRole
  readonly handle: (call: ConsoleCall) => Promise<PageAnswer>
  /** For a page with a live region. */
  readonly watch?: Watch
}

/** Reads what a live page shows, without what changes by itself as time passes. */
export type Watch = (call: WatchCall) => Promise<object>

export type WatchCall = Pick<ConsoleCall, 'params' | 'query' | 'now' | 'api'>

export interface ConsoleCall {
  readonly operator: Operator
  readonly params: Readonly<Record<string, string>>
  readonly query: Fields
  /** Empty for GET. Its CSRF token has been checked. */
  readonly form: Fields
  readonly now: Date
  /** For the forms of the page: the CSRF token, and what was typed in the one that was refused. */
  readonly formState: FormState
  /** Calls the operator API as this operator. Throws a `Problem`, which becomes a page. */
  readonly api: CallApi
  readonly show: (content: ShownPage) => PageAnswer
  /** The live region of the page. `shown` is what its `watch` reads: a difference replaces the region. */
  readonly live: (shown: object, content: Html) => Html
  /** The answer to every POST that succeeds, except for a secret that is shown once. */
  readonly redirect: (path: string, flash?: Flash) => PageAnswer
}

export interface ShownPage extends Omit<PageContent, 'flash'> {
  readonly status?: number
}

/** A message on the next page. */
export interface Flash {
  readonly tone: Tone
  readonly title: string
  readonly text?: string
}

export interface PageAnswer {
  readonly status: number
  readonly html?: Html
  readonly location?: string
  readonly flash?: Flash
}

export type CallApi = <Input, Answer extends object>(
  route: ReadRoute<Input, Answer> | ChangeRoute<Input, Answer>,
  request?: { readonly params?: Readonly<Record<string, string>>; readonly input?: Given<Input> },
) => Promise<Answer>

/** Input as a form has it: text instead of names of a vocabulary, and undefined for empty fields. The route validates it. */
export type Given<Input> = { readonly [Name in keyof Input]?: Loose<Input[Name]> | undefined }
type Loose<Value> = Value extends string ? string : Value

type Handle = ConsolePage['handle']

export function get(path: string, handle: Handle, role: OperatorRole = 'viewer'): ConsolePage {
  return { method: 'GET', path, role, handle }
}

/** A page with a live region, which is the same for all operators. */
export function liveGet(path: string, handle: Handle, watch: Watch): ConsolePage {
  return { ...get(path, handle), watch }
}

export function post(path: string, handle: Handle, role: OperatorRole = 'operator'): ConsolePage {
  return { method: 'POST', path, role, handle }
}
