import type { ToolAnnotations } from '@modelcontextprotocol/server'
import { Type } from 'typebox'

/** Inputs that both tools for drafts share. */
export const policyId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'policy to send under: one of describe_agent',
})

export const content = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'members of the object, without those that are filled in',
})

export const expiresAt = Type.Optional(
  Type.String({ format: 'date-time', description: 'when the content expires (default: by the policy)' }),
)

export const requirePerson = Type.Optional(
  Type.Literal(true, { description: 'have a person approve it, although the policy does not require one' }),
)

export const WRITES_DRAFT: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}
