import type { Static, TSchema } from 'typebox'
import { toJson } from '../schema/define.ts'
import { validatorFor, type Validator } from './validator.ts'

/** The type of what a schema accepts, which nobody changes in place. */
export type Shape<T extends TSchema> = DeepReadonly<Static<T>>

type DeepReadonly<T> = T extends string | number | boolean | null | undefined
  ? T
  : { readonly [Member in keyof T]: DeepReadonly<T[Member]> }

/** A validator whose type is that of its schema, so that a shape is stated once. */
export function shapeValidator<T extends TSchema>(schema: T, rule: string): Validator<Static<T>> {
  return validatorFor<Static<T>>(toJson(schema), rule)
}
