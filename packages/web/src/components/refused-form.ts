import type { Field } from './field.ts'

/** A form that was sent and refused: it is shown again with what was typed. */
export interface RefusedForm {
  /** Where it was sent. */
  readonly action: string
  /** What was typed. The caller leaves out what must not be shown again. */
  readonly values: ReadonlyMap<string, string>
  /** Why it was refused, by the names of fields. */
  readonly errors: Readonly<Record<string, string>>
}

/** Hidden fields tell forms with the same address apart. */
export function isRefused(
  action: string,
  fields: readonly Field[],
  refused: RefusedForm | undefined,
): refused is RefusedForm {
  return (
    refused?.action === action &&
    fields.every((given) => given.kind !== 'hidden' || refused.values.get(given.name) === given.value)
  )
}

/** The fields with what was typed and what is wrong. The first faulty one has the focus. A password stays empty. */
export function refill(fields: readonly Field[], { values, errors }: RefusedForm): Field[] {
  const first = fields.find(({ name }) => Object.hasOwn(errors, name))
  return fields.map((given) => {
    if (given.kind === 'hidden') return given
    const error = Object.hasOwn(errors, given.name) ? errors[given.name] : undefined
    const marked = { ...given, ...(error !== undefined && { error }), hasFocus: given === first }
    if (marked.kind === 'password') return marked
    if (marked.kind === 'checkbox') return { ...marked, isChecked: values.has(given.name) }
    const value = values.get(given.name)
    return value === undefined ? marked : { ...marked, value }
  })
}
