/** A form as data: how it is shown is in `form-view.ts`, the way back to members of an object in `form-members.ts`. */
export type FormPart = FormField | FormGroup

export interface FormField {
  /** `lines` is a list of texts, one a line; `date` a day that becomes its last second in UTC. */
  readonly kind: 'text' | 'line' | 'lines' | 'yes-no' | 'choices' | 'select' | 'date' | 'number'
  /** Path of the member, with dots. */
  readonly name: string
  readonly isRequired: boolean
  /** Of `choices` and `select`. */
  readonly values: readonly string[]
  /** Defaults to the name of the member. */
  readonly label?: string
  readonly hint?: string
  /** What people read instead of a value. */
  readonly labels?: Readonly<Record<string, string>>
}

export interface FormGroup {
  /** A `list` has rows of the same parts, and grows. */
  readonly kind: 'group' | 'list'
  readonly name: string
  readonly parts: readonly FormPart[]
  /** Members that are made, not asked for. */
  readonly ids: readonly string[]
  readonly label?: string
  /** Shown open. Optional parts of a long form are folded. */
  readonly isOpen?: boolean
}

type Details = Partial<Omit<FormField, 'kind' | 'name'>>

export function formField(kind: FormField['kind'], name: string, details: Details = {}): FormField {
  return { kind, name, isRequired: false, values: [], ...details }
}

/** The parts of one row: `options.summary` of row 1 is `options.1.summary`. */
export function rowParts({ name, parts }: FormGroup, row: number): readonly FormPart[] {
  return parts.map((part) => inRow(part, name, row))
}

function inRow(part: FormPart, list: string, row: number): FormPart {
  const name = `${list}.${row}${part.name.slice(list.length)}`
  if (!('parts' in part)) return { ...part, name }
  return { ...part, name, parts: part.parts.map((inner) => inRow(inner, list, row)) }
}

/** Last segment of the path. */
export function memberOf({ name }: FormPart): string {
  return name.split('.').at(-1) ?? name
}
