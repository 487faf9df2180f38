import { wrapWords } from '../wrap-text.ts'

/** Fingerprints stay whole, so that they can be compared. */
export function wrapped(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const indent = /^ */u.exec(line)?.[0] ?? ''
      return wrapWords(line.slice(indent.length).split(' '), {
        indent,
        hanging: indent === '' ? '' : `${indent}  `,
      })
    })
    .join('\n')
}
