import { open } from 'node:fs/promises'

/** The bytes of a file, or why there are none. A file beyond the limit is not read; `howToRaise` says what to do then. */
export async function readBounded(
  file: string,
  maximumBytes: number,
  howToRaise = '',
): Promise<{ readonly bytes: Uint8Array } | { readonly fault: string }> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return { fault: `${file} cannot be opened.` }
  try {
    const { size } = await handle.stat()
    if (size > maximumBytes)
      return { fault: `${file} is larger than ${maximumBytes} bytes. ${howToRaise}`.trimEnd() }
    return { bytes: await handle.readFile() }
  } catch {
    return { fault: `${file} cannot be read.` }
  } finally {
    await handle.close()
  }
}
