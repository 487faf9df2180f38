import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { World } from './test-world.ts'

/** Where words were looked for, and where they were found. */
export interface SearchResult {
  readonly files: number
  readonly rows: number
  readonly logLines: number
  /** Names of files and tables, and `log`; empty if the exchange knows none of the words. */
  readonly found: readonly string[]
}

/**
 * Looks for words of the plaintext in everything that the exchange keeps: its files byte by byte, its tables row by
 * row (the server compresses long values on disk), its log. Each in the spellings a word could hide in.
 */
export async function searchForPlaintext(
  {
    folders,
    sql,
    logged,
  }: Pick<World, 'sql'> & { readonly folders: readonly string[]; readonly logged: readonly string[] },
  words: readonly string[],
): Promise<SearchResult> {
  const spellings = words.flatMap(spellingsOf)
  const found: string[] = []
  const paths = new Set(folders.flatMap(filesBelow))
  for (const path of paths) {
    const bytes = readFileSync(path)
    if (spellings.some((spelling) => bytes.includes(spelling))) found.push(basename(path))
  }
  let rows = 0
  for (const table of await tableNames(sql)) {
    const texts = await sql.unsafe<{ row: string }[]>(`select t::text as row from "${table}" t`, [])
    rows += texts.length
    if (texts.some(({ row }) => spellings.some((spelling) => row.includes(spelling)))) found.push(table)
  }
  if (logged.some((line) => spellings.some((spelling) => line.includes(spelling)))) found.push('log')
  return { files: paths.size, rows, logLines: logged.length, found }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

async function tableNames(sql: World['sql']): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_catalog.pg_tables where schemaname = current_schema() order by 1`
  return tables.map(({ name }) => name)
}

/** As itself, in hexadecimal (how a bytea is shown), and in base64 at each of its three alignments. */
function spellingsOf(word: string): string[] {
  const bytes = Buffer.from(word)
  const aligned = [0, 1, 2].map((skip) => {
    const text = Buffer.concat([Buffer.alloc(skip), bytes]).toString('base64url')
    // The first and last characters depend on the surrounding bytes.
    return text.slice(skip === 0 ? 0 : skip + 1, -2)
  })
  const standard = aligned.map((text) => text.replaceAll('-', '+').replaceAll('_', '/'))
  return [...new Set([word, bytes.toString('hex'), ...aligned, ...standard])]
}
