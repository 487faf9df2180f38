import {
  namesReachedFrom,
  schemaNamed,
  toJson,
  validatorFor,
  type JsonObject,
  type Validator,
} from '@agent-exchange/protocol'
import { Type, type Static, type TObject, type TProperties } from 'typebox'
import type { Database, Transaction } from '../db/database.ts'
import type { Context } from '../kernel/context.ts'
import type { OperatorDependencies } from './dependencies.ts'

/** A validated request of an authenticated operator. */
export interface OperatorCall<Input> {
  /** The operator's name, for the operator log. */
  readonly actor: string
  readonly params: Readonly<Record<string, string>>
  readonly input: Input
  readonly now: string
  readonly context: Context
  readonly webhookKeys: OperatorDependencies['webhookKeys']
  readonly rotatingKeys: OperatorDependencies['rotatingKeys']
}

/** A change with its entry for the operator log. */
export interface LoggedChange {
  readonly answer: object
  readonly action: string
  readonly target: string
  readonly details?: object
}

/** A change that has already written its log entries, because it has several. */
export interface SelfLoggedChange {
  readonly answer: object
  readonly logged: true
}

export type Change = LoggedChange | SelfLoggedChange

interface RouteBase {
  readonly path: string
  readonly validate: Validator<unknown>
}

export interface ReadRoute extends RouteBase {
  readonly method: 'GET'
  readonly run: (call: OperatorCall<never>, db: Database) => Promise<object>
}

export interface ChangeRoute extends RouteBase {
  readonly method: 'POST'
  readonly status: 200 | 201
  readonly maximumBytes: number
  readonly run: (call: OperatorCall<never>, tx: Transaction) => Promise<Change>
}

export type Route = ReadRoute | ChangeRoute

const MAXIMUM_BODY_BYTES = 65_536

export function read<Query extends TObject>(
  path: string,
  query: Query,
  run: (call: OperatorCall<Static<Query>>, db: Database) => Promise<object>,
): ReadRoute {
  return { method: 'GET', path, validate: validatorOfInput(query), run }
}

/** The change of `run` and its log entry commit in one transaction. */
export function change<Body extends TObject>(
  path: string,
  { body, status = 200, maximumBytes = MAXIMUM_BODY_BYTES }: ChangeOptions<Body>,
  run: (call: OperatorCall<Static<Body>>, tx: Transaction) => Promise<Change>,
): ChangeRoute {
  return { method: 'POST', path, status, maximumBytes, validate: validatorOfInput(body), run }
}

interface ChangeOptions<Body extends TObject> {
  readonly body: Body
  readonly status?: 200 | 201
  readonly maximumBytes?: number
}

/** An object schema that refuses unknown members. */
export function input<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

/** Free text with a maximum length and without control characters. */
export const text = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    description: `a text of at most ${maxLength} characters without control characters`,
  })

const MAXIMUM_REASON_CHARACTERS = 1_000
/** The reason for the operator log. Required for changes that take away access. */
export const reason = text(MAXIMUM_REASON_CHARACTERS)
export const optionalReason = Type.Optional(reason)

function validatorOfInput(schema: TObject): Validator<unknown> {
  const definitions = namesReachedFrom(schema).map((name) => [name, toJson(schemaNamed(name))])
  const document: JsonObject = {
    ...toJson(schema),
    $defs: Object.fromEntries(definitions) as JsonObject,
  }
  return validatorFor(document, 'O-20')
}
