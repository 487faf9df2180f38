import { Type, type TObject, type TProperties, type TSchema } from 'typebox'

/** A question that the specification leaves open, with our answer as settings that a deployment can change. */
export interface OpenPoint<P extends TProperties = TProperties> {
  readonly meaning: string
  readonly why: string
  /** Each setting is a schema with `description` and `default`. */
  readonly settings: TObject<P>
}

export function openPoint<P extends TProperties>(point: {
  meaning: string
  why: string
  settings: P
}): OpenPoint<P> {
  return { ...point, settings: Type.Object(point.settings, { additionalProperties: false }) }
}

/** A choice with a single implemented value. It is in the profile to document that the choice is ours. */
export function fixed<T extends string>(value: T, description: string) {
  return Type.Literal(value, { default: value, description })
}

export function oneOf<const T extends string[]>(values: [...T], fallback: T[number], description: string) {
  return Type.Enum(values, { default: fallback, description })
}

/** A subset of a closed list. */
export function someOf<const T extends string[]>(
  values: [...T],
  fallback: readonly T[number][],
  description: string,
  minItems = 0,
) {
  return Type.Array(Type.Enum(values), { uniqueItems: true, minItems, default: fallback, description })
}

export function flag(fallback: boolean, description: string) {
  return Type.Boolean({ default: fallback, description })
}

export function integer(fallback: number, minimum: number, maximum: number, description: string) {
  return Type.Integer({ minimum, maximum, default: fallback, description })
}

export function text(fallback: string, description: string, options: { pattern?: string } = {}) {
  return Type.String({ minLength: 1, default: fallback, description, ...options })
}

export function texts(fallback: readonly string[], description: string, minItems = 0) {
  return Type.Array(Type.String({ minLength: 1 }), {
    uniqueItems: true,
    minItems,
    default: fallback,
    description,
  })
}

/** A setting that may be left unset. */
export function unset<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { default: null, description })
}
