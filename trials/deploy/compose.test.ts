import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../tools/repository/repository-files.ts'

const read = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8')
const compose = read('compose.yaml')

test('compose: the service has a role that owns its database, and PostgreSQL another one as superuser', () => {
  const [, role, database] = /DATABASE_URL: postgres:\/\/(\w+):.+@postgres\/(\w+)/u.exec(compose) ?? []
  const superuser = /POSTGRES_USER: (\w+)/u.exec(compose)?.[1] ?? 'postgres'
  assert.notEqual(role, superuser)
  const script = read('postgres/create-role.sql')
  assert.match(script, new RegExp(`^create role ${role} login nosuperuser nocreatedb nocreaterole`, 'mu'))
  assert.match(script, new RegExp(`^create database ${database} owner ${role};$`, 'mu'))
  assert.ok(compose.includes('./postgres/create-role.sql:/docker-entrypoint-initdb.d/'))
})

test('compose: the master key is a file, and no variable holds it', () => {
  assert.match(compose, /AEX_MASTER_KEY_FILE: \/run\/secrets\/master_key\n/u)
  assert.match(compose, /^ {2}master_key: \{ file: /mu)
  assert.doesNotMatch(compose + read('compose.env.example'), /^\s*AEX_MASTER_KEY(?:_PREVIOUS)?[:=]/mu)
})
