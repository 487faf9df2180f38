import type { Field } from '@agent-exchange/web'

/** A filter by one of several names, or by none. */
export function choiceField(
  { name, label, any }: { readonly name: string; readonly label: string; readonly any: string },
  names: readonly string[],
  value: string | undefined,
): Field {
  return {
    kind: 'select',
    name,
    label,
    isRequired: true,
    options: [
      { value: '', label: any },
      ...names.map((each) => ({ value: each, label: each.replaceAll('_', ' ') })),
    ],
    ...(value !== undefined && { value }),
  }
}

/** A filter by an id. */
export function idField(name: string, label: string, value: string | undefined): Field {
  return { kind: 'text', name, label, maxLength: 1_024, ...(value !== undefined && { value }) }
}

/** Why an operator changes something, for the operator log. */
export const reasonField: Field = {
  kind: 'text',
  name: 'reason',
  label: 'Reason',
  hint: 'Kept in the operator log.',
  isRequired: true,
  maxLength: 1_000,
}
