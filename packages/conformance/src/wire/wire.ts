/** One request on the wire. */
export interface WireRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface WireAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Sends a request. A mutant wraps it. */
export type Transport = (request: WireRequest) => Promise<WireAnswer>

/** An answer with its request, as the checks see it. */
export interface Answer extends WireAnswer {
  readonly request: WireRequest
  /** The parsed body; an empty object if it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>
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
