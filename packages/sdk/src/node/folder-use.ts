import { ExchangeError } from '../errors.ts'
import { tryFileLock } from './file-lock.ts'

/** While any process uses a folder, none can move it. Closing ends the use. */
export function useFolder(lockFile: string): { close(): void } {
  return taken(lockFile, 'shared')
}

/** Refuses a folder that another process uses. */
export function haveFolderAlone(lockFile: string): { close(): void } {
  return taken(lockFile, 'alone')
}

function taken(lockFile: string, mode: 'alone' | 'shared'): { close(): void } {
  const lock = tryFileLock(lockFile, mode)
  if (lock) return lock
  throw new ExchangeError('agent_folder_in_use', { retryable: true, details: { lockFile } })
}
