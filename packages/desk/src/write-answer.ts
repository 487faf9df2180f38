import type { ServerResponse } from 'node:http'
import type { DeskAnswer, DeskPage, DoneCode } from './desk-call.ts'
import { DONE } from './texts/page-texts.ts'

/** Writes an answer. `done` is the code in the address, which says what the last change led to. */
export function writeAnswer(
  response: ServerResponse,
  made: DeskAnswer,
  { done, text }: { readonly done?: string | null | undefined; text(content: DeskPage): string },
): void {
  if (made.kind === 'redirect') {
    const location = withDone(made.to, made.done)
    return void response.writeHead(303, { location, ...made.headers }).end()
  }
  if (made.kind === 'file') {
    const disposition = `attachment; filename="${made.name}"`
    response.writeHead(200, { 'content-type': made.mediaType, 'content-disposition': disposition })
    return void response.end(made.body)
  }
  const notices = isDone(done) ? [DONE[done]] : []
  response.writeHead(made.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...made.headers })
  response.end(text({ ...made, flash: [...notices, ...(made.flash ?? [])] }))
}

function isDone(code: string | null | undefined): code is DoneCode {
  return typeof code === 'string' && Object.hasOwn(DONE, code)
}

function withDone(address: string, done: DoneCode | undefined): string {
  return done === undefined ? address : `${address}?done=${done}`
}
