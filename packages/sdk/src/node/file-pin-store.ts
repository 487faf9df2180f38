import { parseStrictJson } from '@agent-exchange/crypto'
import { validatorFor } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { PeerPins, PinStore } from '../peers/peer-directory.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-pins'
const VERSION = 1
const MAXIMUM_PEERS = 100_000

interface PinFile {
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  readonly peers: readonly PeerPins[]
}

const text = { type: 'string', minLength: 1 }
const maybeEmpty = { type: 'string' }
const fingerprint = { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' }
const pinnedKey = {
  type: 'object',
  additionalProperties: false,
  required: ['keyId', 'use', 'fingerprint', 'pinnedAt', 'by'],
  properties: {
    keyId: text,
    use: { enum: ['signing', 'encryption'] },
    fingerprint,
    pinnedAt: text,
    by: { enum: ['first-use', 'fingerprint', 'introduction', 'confirmation', 'log', 'directory'] },
    invalidFrom: text,
  },
}
const peer = {
  type: 'object',
  additionalProperties: false,
  required: ['agentId', 'organizationId', 'directoryVersion', 'keys', 'expected'],
  properties: {
    agentId: text,
    organizationId: maybeEmpty,
    directoryVersion: maybeEmpty,
    keys: { type: 'array', items: pinnedKey },
    expected: { type: 'array', items: fingerprint },
  },
}
const pinFile = validatorFor<PinFile>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['format', 'version', 'peers'],
    properties: {
      format: { const: FORMAT },
      version: { const: VERSION },
      peers: { type: 'array', maxItems: MAXIMUM_PEERS, items: peer },
    },
  },
  'SDK',
)

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
