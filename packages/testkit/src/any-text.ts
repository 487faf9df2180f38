import fc from 'fast-check'

/** Any character. The unit 'binary' of fast-check is the same, but each process first makes a map of all of them. */
export const anyCharacter = fc
  .nat(0x10_ffff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => character.isWellFormed())

export const anyText = fc.string({ unit: anyCharacter })
