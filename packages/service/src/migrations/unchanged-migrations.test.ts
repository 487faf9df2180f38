import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readServiceMigrations } from './service-migrations.ts'

/** The first 16 digits of the checksums of published migrations. A new migration is added here with its release. */
const PUBLISHED: Readonly<Record<string, string>> = {
  '0001-initial.sql': '36cd2fac9fdb58bb',
  '0002-client-credential-version.sql': 'fe22885a5d0a1b32',
  '0003-usage-and-signers.sql': '35b6893689e514fd',
  '0004-evidence.sql': 'd5d36a410b318c74',
  '0005-worker-locks-and-standby-keys.sql': 'a650b68bca4eb22c',
  '0006-transparency-log.sql': '187b2eab0434c691',
  '0007-console.sql': '909d58a02e181c3a',
  '0008-lookup-by-id.sql': '9cf613f77e0ef8fe',
  '0009-invitations-and-ends.sql': '8332d40ceb0353d3',
  '0010-rolling-upgrades.sql': 'ac086d132ba913ca',
  '0011-require-code-levels-and-thumbprints.sql': '5818baed6a8d2c10',
  '0012-notification-traceparent.sql': '28dfd00e9a05c6cb',
  '0013-master-key-rotation-and-expiry.sql': 'd49d4dde09213656',
  '0014-prepare-partitions.sql': 'deb6e38d2672f345',
  '0015-partitions.sql': '1c9f5aad24cc2621',
}

test('a published migration never changes, because databases have applied it by its checksum', () => {
  const current = new Map(readServiceMigrations().map(({ name, checksum }) => [name, checksum.slice(0, 16)]))
  for (const [name, checksum] of Object.entries(PUBLISHED))
    assert.equal(current.get(name), checksum, `${name} was edited, even if only a comment: add a migration`)
})
