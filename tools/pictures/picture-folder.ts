import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../repository/repository-files.ts'

export const PICTURE_FOLDER = join(ROOT, 'docs/images')

/** A guide with large pictures loads slowly. */
const MAXIMUM_BYTES = 150_000

export const pictureFile = (name: string): string => join(PICTURE_FOLDER, `${name}.png`)

/** Says that a picture was taken, and fails if it is too large. */
export function checkPicture(name: string): void {
  const bytes = statSync(pictureFile(name)).size
  if (bytes > MAXIMUM_BYTES) throw new Error(`${name} has ${bytes} bytes, more than ${MAXIMUM_BYTES}`)
  console.log(`docs/images/${name}.png  ${bytes} bytes`)
}
