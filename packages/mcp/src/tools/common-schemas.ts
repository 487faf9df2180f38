import {
  agentId,
  nameOf,
  OBJECT_TYPES,
  PACKAGE_STATES,
  resourceId,
  schemaNamed,
  threadId,
  type Named,
} from '@agent-exchange/protocol'
import { Type, type TSchema } from 'typebox'

/** The pattern of an id of the protocol. */
function idOf(schema: Named<string>, description: string) {
  const { pattern } = schemaNamed(nameOf(schema)) as TSchema & { readonly pattern: string }
  return Type.String({ pattern, description })
}

export const packageId = idOf(resourceId, 'id of a package, such as pkg_1')
export const threadIdText = idOf(threadId, 'id of a thread, such as thread_1')
export const agentIdText = idOf(agentId, 'id of an agent, such as agent_planner')
export const packageStateText = Type.Enum([...PACKAGE_STATES], { description: 'state of a package' })
export const objectTypeText = Type.Enum([...OBJECT_TYPES], { description: 'type of a protocol object' })
export const timeText = Type.String({ description: 'UTC time, such as 2026-03-01T09:30:00Z' })

/** Input of a tool. Unknown members are refused, so that no misspelled member is ignored. */
export function inputOf<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

export const listLimit = (maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description: `at most this many (default ${maximum})` }))
