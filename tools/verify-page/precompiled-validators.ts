import { verifyCapsule } from '@agent-exchange/log'
import { OBJECT_TYPES, validateObject } from '@agent-exchange/protocol'
import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

/** Every schema that the verifier compiles at run time, found by letting it compile them. */
async function compiledSchemas(): Promise<object[]> {
  const found = new Map<string, object>()
  const { compile } = Ajv2020.prototype
  Ajv2020.prototype.compile = function record(this: Ajv2020, schema: never) {
    found.set(JSON.stringify(schema), schema)
    return compile.call(this, schema) as never
  } as typeof compile
  try {
    for (const format of ['aex-evidence/1', 'aex-evidence/2', 'aex-evidence/3'])
      await verifyCapsule({ format })
    for (const type of OBJECT_TYPES) validateObject({ object_type: type })
  } finally {
    Ajv2020.prototype.compile = compile
  }
  return [...found.values()]
}

/** Emits a call, since a keyword that is a function cannot be written as code. */
const uniqueItems: CodeKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  code(context: KeywordCxt) {
    const { data, schema } = context
    if (schema === true) context.fail(_`!hasUniqueItems(true, ${data})`)
  },
}

/** A module of validators that needs no `eval`: a Content Security Policy forbids it in the page. */
export async function precompiledValidators(): Promise<string> {
  const schemas = await compiledSchemas()
  const ajv = new Ajv2020({
    verbose: true,
    ownProperties: true,
    strict: false,
    validateSchema: false,
    formats: { 'date-time': () => true, uri: /./u },
    code: { source: true, esm: true, formats: _`formats` },
  })
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems)
  const names = schemas.map((schema, at) => {
    const { $id: __, ...rest } = schema as Record<string, unknown>
    ajv.addSchema(rest, `validateDocument${at}`)
    return `validateDocument${at}`
  })
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
  const table = schemas.map(
    (schema, at) => `[${JSON.stringify(JSON.stringify(schema))}, validateDocument${at}]`,
  )
  return [
    "import { formats } from './formats.ts'",
    "import { hasUniqueItems } from './unique-items.ts'",
    code,
    `export const VALIDATORS = new Map([${table.join(',\n')}])`,
  ].join('\n')
}
