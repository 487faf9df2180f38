/**
 * Why a body that fits its schema may still be refused with `validation_failed`: rules that compare several members, or
 * a member with the time or with what is stored. Everything else belongs into the schema.
 */
export interface Refusal {
  readonly rule: string
  /** Where the failure points to; a regular expression. */
  readonly pointer: string
  /** What the refused value looks like, where that says more than its place; a regular expression. */
  readonly value?: string
  readonly reason: string
}

export const REFUSALS: readonly Refusal[] = [
  {
    rule: 'OBJ-19',
    pointer: '_(?:at|from)$',
    value: '^[0-9]{4}-02-29T',
    reason: 'whether a year has a 29 February is no regular expression',
  },
  {
    rule: 'PKG-12',
    pointer: '^/metadata/expires_at$',
    reason: 'expires_at is compared with created_at',
  },
  {
    rule: 'O-35',
    pointer: '^/metadata/content_type$',
    reason: 'which content types are taken depends on the operation',
  },
  {
    rule: 'ID-05',
    pointer: '^/occurred_at$',
    reason: 'occurred_at is compared with the time now',
  },
  {
    rule: 'O-05',
    pointer: '^(?:/keys/[0-9]+)?/replaces_key_id$',
    reason: 'replaces_key_id is looked up among the registered keys',
  },
]
