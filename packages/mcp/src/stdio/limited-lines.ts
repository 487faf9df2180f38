import { Transform, type TransformCallback } from 'node:stream'
import { RequestIdScan } from './request-id-scan.ts'

const NEWLINE = 0x0a

/** Called for a line above the limit, which is dropped. The id is that of the request in it, if it has one. */
export type OnOversized = (id: string | number | null) => void

/** Passes whole lines on, one at a time, up to a size. `ready` delays reading while answers wait to be read. */
export function limitedLines(
  maximumBytes: number,
  onOversized: OnOversized,
  ready: () => Promise<void>,
): Transform {
  let parts: Buffer[] = []
  let size = 0
  let oversized: RequestIdScan | undefined

  function take(part: Buffer): void {
    size += part.length
    if (size <= maximumBytes) return void parts.push(part)
    if (!oversized) {
      oversized = new RequestIdScan()
      for (const earlier of parts) oversized.read(earlier)
      parts = []
    }
    oversized.read(part)
  }

  function endLine(lines: Transform): void {
    if (oversized) onOversized(oversized.id)
    else lines.push(Buffer.concat([...parts, Buffer.of(NEWLINE)]))
    parts = []
    size = 0
    oversized = undefined
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        take(chunk.subarray(start, end))
        endLine(this)
        start = end + 1
      }
      if (start < chunk.length) take(chunk.subarray(start))
      ready().then(() => done(), done)
    },
  })
}
