import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import postgres from 'postgres'
import { searchForPlaintext } from './plaintext-search.ts'
import { testDatabase } from './test-database.ts'

const WORD = 'Seat rails for two variants'

test('a word is found in a file, in a row and in the log, plain, in hexadecimal and in base64', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-search-'))
  await using place = await testDatabase()
  const sql = postgres(place.url, { max: 1 })
  try {
    writeFileSync(join(folder, 'clean'), 'nothing here')
    const clean = await searchForPlaintext({ folders: [folder], sql, logged: ['a line'] }, [WORD])
    assert.deepEqual([clean.files, clean.logLines, clean.found], [1, 1, []])

    for (const before of ['', 'x', 'xy']) {
      const encoded = Buffer.from(`${before}${WORD}, and more`).toString('base64')
      writeFileSync(join(folder, `encoded-${before.length}`), encoded)
    }
    await sql`create table leak (content bytea)`
    await sql`insert into leak values (${Buffer.from(`so: ${WORD}.`)})`
    const leaky = await searchForPlaintext({ folders: [folder], sql, logged: [`{"msg":"${WORD}"}`] }, [WORD])
    assert.deepEqual(leaky.found.toSorted(), ['encoded-0', 'encoded-1', 'encoded-2', 'leak', 'log'])
  } finally {
    await sql.end({ timeout: 1 })
    rmSync(folder, { recursive: true })
  }
})
