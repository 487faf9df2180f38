import { formatProof, parseProof, type TlogProof } from '@agent-exchange/log'

/** Every change to a proof that an honest verifier must notice, by name. */
export function alteredProofs(text: string): Record<string, string> {
  const proof = parseProof(text)
  const { index, hashes, checkpoint } = proof
  const altered: Record<string, TlogProof> = {
    'next index': { ...proof, index: index + 1 },
    'no hash at the end': { ...proof, hashes: hashes.slice(0, -1) },
    'one hash more': { ...proof, hashes: [...hashes, new Uint8Array(32)] },
  }
  for (const [at, hash] of hashes.entries())
    altered[`hash ${at}`] = { ...proof, hashes: hashes.with(at, flipped(hash)) }
  for (const [what, note] of Object.entries(alteredNotes(checkpoint)))
    altered[what] = { ...proof, checkpoint: note }
  return Object.fromEntries(Object.entries(altered).map(([what, each]) => [what, formatProof(each)]))
}

/** Each line of the text changed, each signature changed, and each signature removed. */
function alteredNotes(note: string): Record<string, string> {
  const end = note.lastIndexOf('\n\n')
  const [origin = '', size = '', root = ''] = note.slice(0, end).split('\n')
  const signatures = note
    .slice(end + 2)
    .trimEnd()
    .split('\n')
  const noteOf = (lines: readonly string[], signed = signatures) => [...lines, '', ...signed, ''].join('\n')
  const altered: Record<string, string> = {
    origin: noteOf([`${origin}x`, size, root]),
    'size plus one': noteOf([origin, String(Number(size) + 1), root]),
    root: noteOf([origin, size, flippedText(root)]),
    'an extension line': noteOf([origin, size, root, 'extension']),
  }
  for (const [at, line] of signatures.entries()) {
    const [dash, name, value = ''] = line.split(' ')
    altered[`signature of ${name} changed`] = noteOf(
      [origin, size, root],
      signatures.with(at, `${dash} ${name} ${flippedText(value)}`),
    )
    altered[`signature of ${name} removed`] = noteOf([origin, size, root], signatures.toSpliced(at, 1))
  }
  return altered
}

/** One bit of the last byte flipped. */
export function flipped(bytes: Uint8Array): Uint8Array {
  const last = bytes.length - 1
  return Uint8Array.from(bytes).with(last, (bytes[last] ?? 0) ^ 1)
}

function flippedText(base64: string): string {
  return Buffer.from(flipped(Buffer.from(base64, 'base64'))).toString('base64')
}
