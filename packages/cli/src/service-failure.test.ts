import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asFailure } from './service-failure.ts'

const config = { databaseUrl: undefined, dataDirectory: '/srv/exchange' }
const failed = (members: object) => Object.assign(new Error('it failed'), members)

test('a folder that cannot be written, and a full disk, are laid at AEX_DATA_DIR', () => {
  for (const code of ['EACCES', 'EROFS', 'ENOSPC', 'EPERM'])
    assert.equal(
      asFailure(failed({ code }), config).message,
      'The data folder /srv/exchange cannot be used: it failed. ' +
        'Set AEX_DATA_DIR to a folder that this user may write to.',
    )
})

test('an address that cannot be listened on is no fault of the data folder', () => {
  for (const code of ['EACCES', 'EADDRINUSE'])
    assert.equal(
      asFailure(failed({ code, syscall: 'listen' }), config).message,
      'it failed. Set AEX_HOST, AEX_PORT or AEX_OPERATOR_PORT to a free port or address.',
    )
})

test('a database that refuses is laid at DATABASE_URL, only where one is set', () => {
  const databaseUrl = 'postgres://elsewhere/exchange'
  for (const code of ['ECONNREFUSED', '28P01', '3D000'])
    assert.equal(
      asFailure(failed({ code }), { ...config, databaseUrl }).message,
      'The database of DATABASE_URL cannot be used: it failed.',
    )
  assert.equal(asFailure(failed({ code: '28P01' }), config).message, 'The service could not start: it failed')
})
