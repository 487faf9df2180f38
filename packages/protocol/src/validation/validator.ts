import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ANNOTATIONS } from '../schema/annotations.ts'
import { nameOf, schemaDocument, type JsonObject, type Named } from '../schema/define.ts'
import { explain } from './explain.ts'
import type { Failure } from './failure.ts'
import { formats } from './formats.ts'

/** A list of failures is for people; past this many it says nothing new. */
const MAXIMUM_FAILURES = 100

export interface ValidationOptions {
  /** Name unknown members in messages. Leave it off where the input comes from somebody else. */
  readonly nameUnknownMembers?: boolean
}

// One error at a time first: most input is valid, and finding every error of hostile input is work for nothing.
const quick = newAjv(false)
const thorough = newAjv(true)

function newAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, verbose: true, ownProperties: true, strict: true, formats })
  return ajv.addVocabulary(ANNOTATIONS)
}

export interface Validator<T> {
  (value: unknown, options?: ValidationOptions): Failure[]
  accepts(value: unknown): value is T
}

/** A validator for a self-contained schema document; compiled at its first use. */
export function validatorFor<T>(document: JsonObject, rule: string): Validator<T> {
  let accepts: ValidateFunction | undefined
  let collect: ValidateFunction | undefined

  const isValid = (value: unknown): value is T => (accepts ??= quick.compile(document))(value)
  const validate = (value: unknown, options: ValidationOptions = {}): Failure[] => {
    if (isValid(value)) return []
    collect ??= thorough.compile(document)
    collect(value)
    const explainOptions = { rule, nameUnknownMembers: options.nameUnknownMembers ?? false }
    // Two keywords may fail for one reason (a time that is no time breaks pattern and format): said once.
    const failures = new Map<string, Failure>()
    for (const error of (collect.errors ?? []).slice(0, MAXIMUM_FAILURES)) {
      const failure = explain(error, document, explainOptions)
      failures.set(`${failure.pointer} ${failure.message}`, failure)
    }
    return [...failures.values()]
  }
  return Object.assign(validate, { accepts: isValid })
}

const byName = new Map<string, Validator<unknown>>()

/** The validator of a named schema. */
export function validatorOf<T>(schema: Named<T>): Validator<T> {
  const name = nameOf(schema)
  let validator = byName.get(name)
  if (!validator) byName.set(name, (validator = validatorFor(schemaDocument(name), 'API-01')))
  return validator as Validator<T>
}
