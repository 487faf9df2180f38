/** One request on the wire. */
export interface WireRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The authorization is the token of the caller, as it was issued. */
  readonly hasOwnToken?: boolean
}

/** What a connection had beyond the default. */
export interface Connection {
  /** A further authority. */
  readonly hasAuthority: boolean
  readonly hasCertificate: boolean
}

export interface WireAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as it arrived: not everything is text. */
  readonly bytes: Uint8Array
  readonly connection?: Connection
}

/** Sends a request. A mutant wraps it. */
export type Transport = (request: WireRequest) => Promise<WireAnswer>

/** An answer with its request, as the checks see it. */
export interface Answer extends WireAnswer {
  readonly request: WireRequest
  /** The parsed body; an empty object if it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>
  /** False if the service neither describes this operation nor answered it by another status than 404 so far. */
  readonly isKnownOperation?: boolean
}

export function toAnswer(request: WireRequest, answer: WireAnswer): Answer {
  return { ...answer, request, body: parseObject(answer.text) }
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
