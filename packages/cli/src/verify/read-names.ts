import { parseStrictJson, unlessRefused } from '@agent-exchange/crypto'
import { addressBookFault, readerWith, type AddressBook, type Reader } from '@agent-exchange/log'
import { CommandFailure } from '../failure.ts'
import { readBounded } from './read-bounded.ts'

/** Far more than the largest address book. */
const MAXIMUM_BYTES = 1_048_576

/** For whom a verdict is written: with the names of a file, as `aex agent name --json` prints them. */
export async function readerOf(file: string | undefined): Promise<Reader> {
  if (file === undefined) return {}
  const read = await readBounded(file, MAXIMUM_BYTES, 'Names take less.')
  if ('fault' in read) throw new CommandFailure(read.fault)
  const value = unlessRefused(() => parseStrictJson(read.bytes))
  const fault = addressBookFault(value)
  if (fault !== undefined) throw new CommandFailure(`${file} holds no names. ${fault}`)
  return readerWith(value as unknown as AddressBook)
}
