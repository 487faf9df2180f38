import { publishedSchemas } from '@agent-exchange/protocol'

let texts: Map<string, object> | undefined

/** The schemas of the protocol's objects, which an agent may read from its exchange, and an API description without decisions. */
export function schemaText(path: string): object | undefined {
  if (path === '/openapi.json')
    return { openapi: '3.1.1', info: { title: 'Scripted exchange', version: '1.0.0' }, paths: {} }
  texts ??= new Map(publishedSchemas().map(([name, schema]) => [`/schemas/${name}`, schema]))
  return texts.get(path)
}
