import { stat } from 'node:fs/promises'
import { parseStrictJson } from '@agent-exchange/crypto'
import { validatorFor } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** Which folder of which file system this is. A copy has the same content and another place. */
interface Place {
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  readonly device: string
  readonly inode: string
  /** Nanoseconds since 1970; 0 where the file system does not know. */
  readonly born: string
}

const FORMAT = 'aex-agent-place'
const VERSION = 1
const number = { type: 'string', pattern: '^-?[0-9]{1,20}$' }
const place = validatorFor<Place>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['format', 'version', 'device', 'inode', 'born'],
    properties: {
      format: { const: FORMAT },
      version: { const: VERSION },
      device: number,
      inode: number,
      born: number,
    },
  },
  'SDK',
)

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
