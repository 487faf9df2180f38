import { readFileSync } from 'node:fs'

/** Beside `src` and `dist` alike, as the migrations are: what a browser gets is not compiled. */
const FOLDER = new URL('../../../assets/', import.meta.url)

export function readAsset(path: string): string {
  return readFileSync(new URL(path, FOLDER), 'utf8')
}
