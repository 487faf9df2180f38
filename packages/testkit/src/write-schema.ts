/** Writes the schema.txt of service and gateway from their migrations: `npm run generate -- schema`. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { migrate, readMigrations } from '@agent-exchange/database/migrations'
import { describeSchema } from './describe-schema.ts'

for (const name of ['service', 'gateway']) await writeSchema(new URL(`../../${name}/`, import.meta.url))

async function writeSchema(home: URL): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'aex-schema-'))
  chmodSync(dataDirectory, 0o711)
  try {
    await using server = await startEmbedded({
      dataDirectory,
      log: () => undefined,
      settings: { fsync: 'off' },
    })
    const db = openDatabase({
      target: server.connection,
      maximumConnections: 1,
      applicationName: 'schema',
    })
    await migrate(db, readMigrations(new URL('migrations/', home)))
    writeFileSync(new URL('schema.txt', home), await describeSchema(db))
    await db.end()
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}
