import { OPERATION_IDS, operations } from './operations/operations.ts'
import type { Operation } from './operations/operation.ts'
import { problemDetails } from './problems.ts'
import { profileSchema } from './profile/profile.ts'
import { notificationEnvelope } from './resources/notifications.ts'
import { packageMetadata } from './resources/packages.ts'
import { nameOf, schemaDocument, type JsonObject } from './schema/define.ts'
import { OBJECT_TYPES } from './schema/shared.ts'

/**
 * OBJ-18: every schema that is published, by its path below `schemas/`. The six objects stand at the top, what
 * operations send and answer below `api/`, and the profile override file beside them.
 */
export function publishedSchemas(): [path: string, schema: JsonObject][] {
  const bodies = OPERATION_IDS.flatMap((id) => {
    const { request, success }: Operation = operations[id]
    return request ? [request, success.body] : [success.body]
  })
  const shared = [packageMetadata, notificationEnvelope, problemDetails]
  const names = new Set([...bodies, ...shared].map(nameOf))
  return [
    ...OBJECT_TYPES.map((name): [string, JsonObject] => [`${name}.schema.json`, schemaDocument(name)]),
    ...[...names]
      .toSorted()
      .map((name): [string, JsonObject] => [`api/${name}.schema.json`, schemaDocument(name)]),
    ['deployment-profile.schema.json', profileSchema],
  ]
}
