import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'

const TOKEN_BYTES = 32
const OWNER_ONLY = 0o600
const OTHERS = 0o077
const TOKEN = /^[\w-]{43}$/u

/**
 * The bearer token of the HTTP listener: 256 random bits in a file that only its owner can read. Made on first use and
 * kept, so that the settings of clients stay valid.
 */
export async function accessToken(file: string): Promise<string> {
  const made = randomBytes(TOKEN_BYTES).toString('base64url')
  try {
    await writeFile(file, `${made}\n`, { flag: 'wx', mode: OWNER_ONLY })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new Error(`${file} cannot be written.`, { cause: error })
  }
  const { mode } = await stat(file)
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    throw new Error(`Other users can read ${file}. Delete it, and give clients the new token.`)
  const kept = (await readFile(file, 'utf8')).trim()
  if (!TOKEN.test(kept)) throw new Error(`${file} holds no token. Delete it, and give clients the new token.`)
  return kept
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares digests, which have the same length, in constant time. */
export function isBearer(header: string | undefined, token: string): boolean {
  const [scheme = '', given = ''] = (header ?? '').split(' ', 2)
  return timingSafeEqual(digest(given), digest(token)) && scheme.toLowerCase() === 'bearer'
}
