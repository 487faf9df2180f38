import { readFileSync } from 'node:fs'

/** A sibling of `src` and `dist`, because assets are not compiled. */
const FOLDER = new URL('../../../assets/', import.meta.url)

export function readAsset(path: string): string {
  return readFileSync(new URL(path, FOLDER), 'utf8')
}
