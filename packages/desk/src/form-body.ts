import type { IncomingMessage } from 'node:http'
import { MAXIMUM_FORM_BYTES, MAXIMUM_FORM_FIELDS } from './desk-limits.ts'

const MEDIA_TYPE = 'application/x-www-form-urlencoded'

/** The fields of a posted form; undefined if it is too large, has too many fields or is no form. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const [mediaType] = (request.headers['content-type'] ?? '').split(';')
  if (mediaType?.trim().toLowerCase() !== MEDIA_TYPE) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if ((size += chunk.byteLength) > MAXIMUM_FORM_BYTES) return undefined
    chunks.push(chunk)
  }
  const fields = new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
  return fields.size > MAXIMUM_FORM_FIELDS ? undefined : fields
}
