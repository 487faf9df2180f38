/**
 * Reasons to refuse a schema-valid body with `validation_failed`: rules that compare several members, or a member with
 * the time or stored data. Everything else belongs in the schema.
 */
export interface Refusal {
  readonly rule: string
  /** Regular expression for the pointer of the failure. */
  readonly pointer: string
  /** Regular expression for the refused value, if the pointer is not specific enough. */
  readonly value?: string
  readonly reason: string
}

export const REFUSALS: readonly Refusal[] = [
  {
    rule: 'OBJ-19',
    pointer: '_(?:at|from)$',
    value: '^[0-9]{4}-02-29T',
    reason: 'a regular expression cannot express leap years',
  },
  {
    rule: 'PKG-12',
    pointer: '^/metadata/expires_at$',
    reason: 'expires_at is compared with created_at',
  },
  {
    rule: 'O-35',
    pointer: '^/metadata/content_type$',
    reason: 'the accepted content types depend on the operation',
  },
  {
    rule: 'ID-05',
    pointer: '^/occurred_at$',
    reason: 'occurred_at is compared with the current time',
  },
  {
    rule: 'O-05',
    pointer: '^(?:/keys/[0-9]+)?/replaces_key_id$',
    reason: 'replaces_key_id is looked up among the registered keys',
  },
]
