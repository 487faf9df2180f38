import { stat } from 'node:fs/promises'
import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { ExchangeError } from '../errors.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-agent-place'
const VERSION = 1
const number = Type.String({ pattern: '^-?[0-9]{1,20}$' })
/** Which folder of which file system this is. A copy has the same content and another place. */
const placeFile = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    device: number,
    inode: number,
    /** Nanoseconds since 1970; 0 where the file system does not know. */
    born: number,
  },
  { additionalProperties: false },
)
type Place = Shape<typeof placeFile>
const place = shapeValidator(placeFile, 'SDK')

export type PlaceState = 'unrecorded' | 'same' | 'copied'

/** Compares the folder with the place that it recorded. */
export async function placeStateOf(folder: string, file: string): Promise<PlaceState> {
  const recorded = await readPlace(folder, file)
  if (!recorded) return 'unrecorded'
  return isCopied(recorded, await placeOf(folder)) ? 'copied' : 'same'
}

export async function recordPlace(folder: string, file: string): Promise<void> {
  await writePrivateFile(file, `${JSON.stringify(await placeOf(folder), undefined, 2)}\n`)
}

/**
 * The device number alone says nothing: a disk may get another one at the next start or mount. Equal inodes on two disks
 * can be chance; then the time of creation differs too.
 */
export function isCopied(
  recorded: Pick<Place, 'device' | 'inode' | 'born'>,
  found: Pick<Place, 'device' | 'inode' | 'born'>,
): boolean {
  if (recorded.inode !== found.inode) return true
  return recorded.device !== found.device && recorded.born !== found.born
}

async function placeOf(folder: string): Promise<Place> {
  const { dev, ino, birthtimeNs } = await stat(folder, { bigint: true })
  return {
    format: FORMAT,
    version: VERSION,
    device: String(dev),
    inode: String(ino),
    born: String(birthtimeNs),
  }
}

async function readPlace(folder: string, file: string): Promise<Place | undefined> {
  const found = await readPrivateFile(file)
  if (!found) return undefined
  try {
    const content: unknown = parseStrictJson(found.text)
    if (place.accepts(content)) return content
  } catch (cause) {
    throw new ExchangeError('agent_folder_unreadable', { details: { folder, file }, cause })
  }
  throw new ExchangeError('agent_folder_unreadable', { details: { folder, file } })
}
