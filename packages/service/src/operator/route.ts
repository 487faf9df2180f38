import {
  namesReachedFrom,
  schemaNamed,
  toJson,
  validatorFor,
  type JsonObject,
  type Validator,
} from '@agent-exchange/protocol'
import { Type, type Static, type TObject, type TProperties } from 'typebox'
import type { Database, Transaction } from '@agent-exchange/database'
import type { Context } from '../kernel/context.ts'
import type { Operator, OperatorRole } from '../kernel/operator-roles.ts'
import type { OperatorDependencies } from './dependencies.ts'

/** A validated request of an authenticated operator who has the role of the route. */
export interface OperatorCall<Input> {
  /** The operator's name, for the operator log. */
  readonly actor: string
  readonly operator: Operator
  readonly params: Readonly<Record<string, string>>
  readonly input: Input
  readonly now: string
  readonly context: Context
  readonly webhookKeys: OperatorDependencies['webhookKeys']
  readonly rotatingKeys: OperatorDependencies['rotatingKeys']
  readonly masterKeys: OperatorDependencies['masterKeys']
  readonly settings: OperatorDependencies['settings']
}

/** A change with its entry for the operator log. */
export interface LoggedChange<Answer extends object = object> {
  readonly answer: Answer
  readonly action: string
  readonly target: string
  readonly details?: object
}

/** A change that has already written its log entries, because it has several. */
export interface SelfLoggedChange<Answer extends object = object> {
  readonly answer: Answer
  readonly logged: true
}

export type Change<Answer extends object = object> = LoggedChange<Answer> | SelfLoggedChange<Answer>

interface RouteBase {
  readonly path: string
  /** The least role that may call it; `runRoute` enforces it. */
  readonly role: OperatorRole
  readonly validate: Validator<unknown>
}

export interface ReadRoute<Query = never, Answer extends object = object> extends RouteBase {
  readonly method: 'GET'
  readonly run: (call: OperatorCall<Query>, db: Database) => Promise<Answer>
}

export interface ChangeRoute<Body = never, Answer extends object = object> extends RouteBase {
  readonly method: 'POST'
  readonly status: 200 | 201
  readonly maximumBytes: number
  readonly run: (call: OperatorCall<Body>, tx: Transaction) => Promise<Change<Answer>>
}

/** Any route, as a list of routes has it. */
export type Route = ReadRoute | ChangeRoute

const MAXIMUM_BODY_BYTES = 65_536

export function read<Query extends TObject, Answer extends object>(
  path: string,
  query: Query,
  run: (call: OperatorCall<Static<Query>>, db: Database) => Promise<Answer>,
  { role = 'viewer' }: { readonly role?: OperatorRole } = {},
): ReadRoute<Static<Query>, Answer> {
  return { method: 'GET', path, role, validate: validatorOfInput(query), run }
}

/** The change of `run` and its log entry commit in one transaction. */
export function change<Body extends TObject, Answer extends object>(
  path: string,
  { body, status = 200, maximumBytes = MAXIMUM_BODY_BYTES, role = 'operator' }: ChangeOptions<Body>,
  run: (call: OperatorCall<Static<Body>>, tx: Transaction) => Promise<Change<Answer>>,
): ChangeRoute<Static<Body>, Answer> {
  return { method: 'POST', path, role, status, maximumBytes, validate: validatorOfInput(body), run }
}

interface ChangeOptions<Body extends TObject> {
  readonly body: Body
  readonly status?: 200 | 201
  readonly maximumBytes?: number
  readonly role?: OperatorRole
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
