import { createHmac } from 'node:crypto'
import { equalsInConstantTime } from '@agent-exchange/web'
import type { Flash } from './console-page.ts'

const MAXIMUM_TEXT_CHARACTERS = 600
const VALUE = /^([\w-]{1,3000})\.([\w-]{43})$/u

/** A message for the next page, in a cookie with a MAC, so that nobody else can make the console say something. */
export function flashCookie(key: Uint8Array, { tone, title, text }: Flash): string {
  const shown = { tone, title: cut(title), ...(text !== undefined && { text: cut(text) }) }
  const body = Buffer.from(JSON.stringify(shown)).toString('base64url')
  return `${body}.${macOf(key, body)}`
}

export function readFlash(key: Uint8Array, cookie: string | undefined): Flash | undefined {
  const [, body, mac] = VALUE.exec(cookie ?? '') ?? []
  if (body === undefined || mac === undefined || !equalsInConstantTime(mac, macOf(key, body)))
    return undefined
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as Flash
}

function macOf(key: Uint8Array, body: string): string {
  return createHmac('sha256', key).update('flash\0').update(body).digest('base64url')
}

function cut(text: string): string {
  return text.length > MAXIMUM_TEXT_CHARACTERS ? `${text.slice(0, MAXIMUM_TEXT_CHARACTERS)}…` : text
}
