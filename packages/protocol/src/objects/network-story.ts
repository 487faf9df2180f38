import { Type, type Static } from 'typebox'
import { proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { dateTime, objectId, objectType } from '../schema/shared.ts'
import { commonEnvelope, inThread, protocolObject } from './common-envelope.ts'

const strings = Type.Array(Type.String())

export const networkStory = define(
  'network_story',
  protocolObject('OBJ-09', {
    ...commonEnvelope('network_story', 'story'),
    ...inThread,
    story_version: Type.Number({ minimum: 1, ...proves({ minimum: 'OBJ-15' }) }),
    status: Type.Enum(['draft', 'active', 'superseded', 'closed']),
    summary: Type.String(),
    agreed_facts: strings,
    open_questions: strings,
    decisions: strings,
    boundaries: strings,
    next_update: Type.Optional(dateTime),
    basis_refs: Type.Array(
      Type.Object({ object_id: objectId, object_type: objectType }, { additionalProperties: false }),
      { minItems: 1, uniqueItems: true, ...proves({ uniqueItems: 'OBJ-12' }) },
    ),
  }),
)

export type NetworkStory = Static<typeof networkStory>
