import { OPERATION_IDS, operations } from './operations/operations.ts'
import type { Operation } from './operations/operation.ts'
import { problemDetails } from './problem-details.ts'
import { profileSchema } from './profile/profile.ts'
import { notificationEnvelope } from './resources/notifications.ts'
import { packageMetadata } from './resources/packages.ts'
import { nameOf, schemaDocument, type JsonObject } from './schema/define.ts'
import { OBJECT_TYPES } from './schema/shared.ts'

/**
 * OBJ-18: every published schema, by its path in `schemas/`: the six objects and the profile at the top level, requests
 * and responses of operations in `api/`.
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
