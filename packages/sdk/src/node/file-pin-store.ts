import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { ExchangeError } from '../errors.ts'
import type { PeerPins, PinStore } from '../peers/peer-directory.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-pins'
const VERSION = 1
const MAXIMUM_PEERS = 100_000

const text = Type.String({ minLength: 1 })
const CLOSED = { additionalProperties: false }
const fingerprint = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
const pinnedKey = Type.Object(
  {
    keyId: text,
    use: Type.Enum(['signing', 'encryption']),
    fingerprint,
    pinnedAt: text,
    by: Type.Enum(['first-use', 'fingerprint', 'introduction', 'confirmation', 'log', 'directory']),
    invalidFrom: Type.Optional(text),
  },
  CLOSED,
)
const peer = Type.Object(
  {
    agentId: text,
    organizationId: Type.String(),
    directoryVersion: Type.String(),
    keys: Type.Array(pinnedKey),
    expected: Type.Array(fingerprint),
  },
  CLOSED,
)
const pinFileShape = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    peers: Type.Array(peer, { maxItems: MAXIMUM_PEERS }),
  },
  CLOSED,
)
type PinFile = Shape<typeof pinFileShape>
const pinFile = shapeValidator(pinFileShape, 'SDK')

/**
 * Pins in one file that only its owner can write, replaced as a whole with every change. A file that is damaged, or
 * that others can write, is refused and never taken for an empty one: that would make every peer a first contact.
 *
 * @example
 * const pins = openFilePinStore('./agent/pins.json')
 */
export function openFilePinStore(file: string): PinStore {
  async function read(): Promise<readonly PeerPins[]> {
    const found = await readPrivateFile(file).catch((cause: unknown) => {
      throw unreadable(file, cause)
    })
    if (!found) return []
    if (isOpenToOthers(found.mode, 'write')) throw unreadable(file)
    const content = parsed(found.text, file)
    if (!pinFile.accepts(content)) throw unreadable(file)
    return content.peers
  }

  return {
    read: async (agentId) => (await read()).find((pins) => pins.agentId === agentId),
    list: read,
    async update(agentId, change) {
      try {
        return await withFileLock(`${file}.lock`, async () => {
          const peers = await read()
          const pins = await change(peers.find((each) => each.agentId === agentId))
          const others = peers.filter((each) => each.agentId !== agentId)
          const content: PinFile = { format: FORMAT, version: VERSION, peers: [...others, pins] }
          await writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
          return pins
        })
      } catch (error) {
        throw error instanceof ExchangeError ? error : unreadable(file, error)
      }
    },
  }
}

function parsed(content: string, file: string): unknown {
  try {
    return parseStrictJson(content)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause?: unknown): ExchangeError {
  return new ExchangeError('pin_store_unreadable', { details: { file }, cause })
}
