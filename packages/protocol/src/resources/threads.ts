import { Type, type Static } from 'typebox'
import { inUse, ours } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { organizationId, protocolVersion, threadId, transportMode } from '../schema/shared.ts'
import { lastPageHasNoCursor, resource } from './forms.ts'
import { packageResource } from './packages.ts'

export const threadResource = define(
  'ThreadResource',
  resource({
    thread_id: threadId,
    protocol_version: protocolVersion,
    transport_mode: transportMode,
    participants: Type.Array(organizationId),
    packages: Type.Array(packageResource, ours('O-43')),
    state: Type.String({ ...ours('O-05'), ...inUse('active') }),
    next_cursor: Type.Optional({ ...lastPageHasNoCursor, ...ours('O-40') }),
    has_more: Type.Optional(Type.Boolean(ours('O-40'))),
  }),
)

export type ThreadResource = Static<typeof threadResource>
