/** Writes schema.txt from the migrations: `npm run schema`. */

import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { migrate } from '@agent-exchange/database/migrations'
import { describeSchema } from './describe-schema.ts'
import { readServiceMigrations } from '@agent-exchange/service/migrations'

const dataDirectory = mkdtempSync(join(tmpdir(), 'aex-schema-'))
chmodSync(dataDirectory, 0o711)
try {
  await using server = await startEmbedded({
    dataDirectory,
    log: () => undefined,
    settings: { fsync: 'off' },
  })
  const db = openDatabase({ target: server.connection, maximumConnections: 1, applicationName: 'schema' })
  await migrate(db, readServiceMigrations())
  writeFileSync(new URL('../../service/schema.txt', import.meta.url), await describeSchema(db))
  await db.end()
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
