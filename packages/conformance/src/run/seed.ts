import { createHash } from 'node:crypto'

const LENGTH = 32

/** Identifiers that follow from the seed, the number of the run and the check, so that a resumed run repeats none. */
export function idSource(seed: string, scope: string): (prefix: string) => string {
  let count = 0
  return (prefix) => {
    const hash = createHash('sha256').update(`${seed}\0${scope}\0${++count}`).digest('hex')
    return `${prefix}_${hash.slice(0, LENGTH)}`
  }
}
