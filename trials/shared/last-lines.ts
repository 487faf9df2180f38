import { createInterface } from 'node:readline'

/** The last lines of a stream, which grow while it is read. */
export function lastLines(
  input: NodeJS.ReadableStream,
  limit: number,
  isKept: (line: string) => boolean = () => true,
): readonly string[] {
  const lines: string[] = []
  createInterface({ input }).on('line', (line) => {
    if (!isKept(line)) return
    lines.push(line)
    if (lines.length > limit) lines.shift()
  })
  return lines
}
