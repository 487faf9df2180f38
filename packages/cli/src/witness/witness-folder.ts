import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  formatSignerKey,
  LogError,
  parseSignerKey,
  SIGNATURE_TYPE,
  type NoteSigner,
} from '@agent-exchange/log'
import { CommandFailure } from '../failure.ts'

const KEY_FILE = 'witness-key'
const SEED_BYTES = 32
const OWNER_ONLY_FOLDER = 0o700
const OWNER_ONLY = 0o600
const OTHERS = 0o077

export const stateFileOf = (dir: string): string => join(dir, 'witness.db')

/** The key of the witness in this folder; made under the given name where there is none. */
export async function witnessKeyIn(dir: string, name?: string): Promise<NoteSigner> {
  const file = join(dir, KEY_FILE)
  const found = readKey(file)
  if (found !== undefined) {
    const signer = await parsed(found, file)
    if (name !== undefined && name !== signer.key.name)
      throw new CommandFailure(
        `The witness in ${dir} is ${signer.key.name}. Choose another folder for another name.`,
      )
    return signer
  }
  if (name === undefined) throw new CommandFailure(`${dir} has no witness key. Make it with --name NAME.`)
  return makeKey(dir, file, name)
}

async function makeKey(dir: string, file: string, name: string): Promise<NoteSigner> {
  const text = await formatSignerKey(name, SIGNATURE_TYPE.cosignature, randomBytes(SEED_BYTES)).catch(
    (error: unknown) => {
      if (error instanceof LogError) throw new CommandFailure(`This name cannot be used. ${error.message}`)
      throw error
    },
  )
  try {
    mkdirSync(dir, { recursive: true, mode: OWNER_ONLY_FOLDER })
    // Exclusive: a key that is there is never replaced.
    const descriptor = openSync(file, 'wx', OWNER_ONLY)
    try {
      writeFileSync(descriptor, `${text}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    throw new CommandFailure(`${file} cannot be written.`)
  }
  return parseSignerKey(text)
}

function readKey(file: string): string | undefined {
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & OTHERS) !== 0)
      throw new CommandFailure(`Other users can read ${file}. Restrict it to its owner: chmod 600`)
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`${file} cannot be read.`)
  }
}

async function parsed(text: string, file: string): Promise<NoteSigner> {
  try {
    const signer = await parseSignerKey(text)
    if (signer.key.type === SIGNATURE_TYPE.cosignature) return signer
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  throw new CommandFailure(`${file} holds no key of a witness.`)
}
