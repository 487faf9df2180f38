import {
  OBJECT_TYPES,
  OPERATION_IDS,
  nameOf,
  operations,
  packageMetadata,
  notificationEnvelope,
  problemDetails,
  profileSchema,
  schemaDocument,
  type JsonObject,
  type Operation,
} from '@agent-exchange/protocol'

/** The six objects at the top; what operations send and answer below `api/`; the profile override file. */
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
