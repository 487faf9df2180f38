/** The names that an entry file exports. Entries list every name, so the text is enough. */

export interface EntryExports {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

/** Names that nobody lists. */
const STAR = /^export (?:type )?\*/mu
const NAMED = /^export (type )?\{([^}]*)\}/gmu

export function exportsOf(text: string): EntryExports {
  const all = [...text.matchAll(NAMED)].flatMap(([, allTypes, list = '']) =>
    namesIn(list).map(({ name, isType }) => ({ name, isType: isType || allTypes !== undefined })),
  )
  const named = (isType: boolean) =>
    all
      .filter((each) => each.isType === isType)
      .map(({ name }) => name)
      .toSorted()
  return { values: [...(STAR.test(text) ? ['*'] : []), ...named(false)], types: named(true) }
}

/** The names between the braces of an import or export, as the other side calls them. */
export function namesIn(list: string): { name: string; isType: boolean }[] {
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => ({
      name: each.replace(/^type /u, '').split(' as ')[0] ?? '',
      isType: each.startsWith('type '),
    }))
}
