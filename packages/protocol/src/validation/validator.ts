import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { ANNOTATIONS } from '../schema/annotations.ts'
import { nameOf, schemaDocument, type JsonObject, type Named } from '../schema/define.ts'
import { explain } from './explain.ts'
import { MAXIMUM_FAILURES, type Failure } from './failure.ts'
import { formats } from './formats.ts'
import { uniqueItems } from './unique-items.ts'

/**
 * Ajv has no limit on collected errors, and copies the list for each referenced item. Only the first failure is reported
 * for a document with more values than this.
 */
const MAXIMUM_VALUES_FOR_ALL_FAILURES = 2_000

/** Keywords whose error only repeats the error of a subschema. */
const REPEATING = new Set(['if', 'propertyNames'])

export interface ValidationOptions {
  /** Name unknown members in messages. Leave it off for input of other parties. */
  readonly nameUnknownMembers?: boolean
}

// Stops at the first error, because most input is valid.
const quick = newAjv(false)
const thorough = newAjv(true)

function newAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, verbose: true, ownProperties: true, strict: true, formats })
  // The built-in keyword compares every pair of objects.
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems)
  return ajv.addVocabulary(ANNOTATIONS)
}

export interface Validator<T> {
  (value: unknown, options?: ValidationOptions): Failure[]
  accepts(value: unknown): value is T
}

/** A validator for a self-contained schema document, compiled on first use. */
export function validatorFor<T>(document: JsonObject, rule: string): Validator<T> {
  let accepts: ValidateFunction | undefined
  let collect: ValidateFunction | undefined

  const isValid = (value: unknown): value is T => (accepts ??= quick.compile(document))(value)
  const errorsOf = (value: unknown): ErrorObject[] => {
    const first = accepts?.errors ?? []
    if (hasMoreValuesThan(value, MAXIMUM_VALUES_FOR_ALL_FAILURES)) return first
    collect ??= thorough.compile(document)
    collect(value)
    return collect.errors ?? first
  }
  const validate = (value: unknown, options: ValidationOptions = {}): Failure[] => {
    if (isValid(value)) return []
    const explainOptions = { rule, nameUnknownMembers: options.nameUnknownMembers ?? false }
    // Two keywords may fail for one reason, such as pattern and format of a time; report it once.
    const failures = new Map<string, Failure>()
    for (const error of errorsOf(value)) {
      if (REPEATING.has(error.keyword)) continue
      const failure = explain(error, document, explainOptions)
      failures.set(`${failure.pointer} ${failure.message}`, failure)
      if (failures.size === MAXIMUM_FAILURES) break
    }
    return [...failures.values()]
  }
  return Object.assign(validate, { accepts: isValid })
}

/** Whether it contains more than `limit` values at any depth. Stops at the limit, so its own work is bounded. */
function hasMoreValuesThan(value: unknown, limit: number): boolean {
  const open = [value]
  for (let count = 0; open.length > 0; count++) {
    if (count + open.length > limit) return true
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const inner: unknown[] = Object.values(next)
    if (inner.length > limit) return true
    open.push(...inner)
  }
  return false
}

const byName = new Map<string, Validator<unknown>>()

/** The validator of a named schema. */
export function validatorOf<T>(schema: Named<T>): Validator<T> {
  const name = nameOf(schema)
  let validator = byName.get(name)
  if (!validator) byName.set(name, (validator = validatorFor(schemaDocument(name), 'API-01')))
  return validator as Validator<T>
}
