import { createHmac } from 'node:crypto'
import { equalsInConstantTime } from './constant-time.ts'

const VALUE = /^([\w-]{1,3500})\.([\w-]{43})$/u

/** A value in a cookie with a MAC: only whoever has the key can make one, and one purpose is never taken for another. */
export function sealCookie(key: Uint8Array, purpose: string, value: object): string {
  const body = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${body}.${macOf(key, purpose, body)}`
}

export function openCookie(key: Uint8Array, purpose: string, cookie: string | undefined): unknown {
  const [, body, mac] = VALUE.exec(cookie ?? '') ?? []
  if (body === undefined || mac === undefined) return undefined
  if (!equalsInConstantTime(mac, macOf(key, purpose, body))) return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown
}

function macOf(key: Uint8Array, purpose: string, body: string): string {
  return createHmac('sha256', key).update(`${purpose}\0`).update(body).digest('base64url')
}
