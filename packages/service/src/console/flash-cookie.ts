import { openCookie, sealCookie } from '@agent-exchange/web'
import type { Flash } from './console-page.ts'

const MAXIMUM_TEXT_CHARACTERS = 600

/** A message for the next page. */
export function flashCookie(key: Uint8Array, { tone, title, text }: Flash): string {
  return sealCookie(key, 'flash', {
    tone,
    title: cut(title),
    ...(text !== undefined && { text: cut(text) }),
  })
}

export function readFlash(key: Uint8Array, cookie: string | undefined): Flash | undefined {
  return openCookie(key, 'flash', cookie) as Flash | undefined
}

function cut(text: string): string {
  return text.length > MAXIMUM_TEXT_CHARACTERS ? `${text.slice(0, MAXIMUM_TEXT_CHARACTERS)}…` : text
}
