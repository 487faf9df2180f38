import { createHmac, timingSafeEqual } from 'node:crypto'
import { request } from 'undici'

const MESSAGE_MS = 5_000

export interface MessageAnswer {
  readonly status: number
  readonly body: unknown
}

/**
 * How simulated connectors talk to each other: over HTTP, each message signed with a key that the simulated data
 * space shares, so that nobody can speak for another participant.
 */
export class Messenger {
  readonly #key: Uint8Array

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Undefined when nobody answered. */
  async send(from: string, address: string, path: string, body: unknown): Promise<MessageAnswer | undefined> {
    try {
      const answer = await request(`${address.replace(/\/+$/u, '')}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-participant': from, 'x-proof': this.#proof(from) },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(MESSAGE_MS),
      })
      const text = await answer.body.text()
      return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  /** Who sent it, if the proof holds. */
  sender(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
    const { 'x-participant': from, 'x-proof': proof } = headers
    if (typeof from !== 'string' || typeof proof !== 'string') return undefined
    const [given, right] = [Buffer.from(proof), Buffer.from(this.#proof(from))]
    return given.length === right.length && timingSafeEqual(given, right) ? from : undefined
  }

  #proof(participantId: string): string {
    return createHmac('sha256', this.#key).update(participantId).digest('base64url')
  }
}
