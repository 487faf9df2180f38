import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../tools/repository/repository-files.ts'

const read = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8')

const FILES = [
  {
    compose: read('compose.yaml'),
    example: read('compose.env.example'),
    script: 'create-role.sql',
    prefix: 'AEX_',
  },
  {
    compose: read('gateway.compose.yaml'),
    example: read('gateway.env.example'),
    script: 'create-gateway-role.sql',
    prefix: 'AEX_GATEWAY_',
  },
]

test('compose: the server has a role that owns its database, and PostgreSQL another one as superuser', () => {
  for (const { compose, script } of FILES) {
    const [, role, database] = /DATABASE_URL: postgres:\/\/(\w+):.+@postgres\/(\w+)/u.exec(compose) ?? []
    const superuser = /POSTGRES_USER: (\w+)/u.exec(compose)?.[1] ?? 'postgres'
    assert.notEqual(role, superuser)
    const sql = read(`postgres/${script}`)
    assert.match(sql, new RegExp(`^create role ${role} login nosuperuser nocreatedb nocreaterole`, 'mu'))
    assert.match(sql, new RegExp(`^create database ${database} owner ${role};$`, 'mu'))
    assert.ok(compose.includes(`./postgres/${script}:/docker-entrypoint-initdb.d/`))
  }
})

test('compose: the master key is a file, and no variable holds it', () => {
  for (const { compose, example, prefix } of FILES) {
    assert.match(compose, new RegExp(`${prefix}MASTER_KEY_FILE: /run/secrets/master_key\n`, 'u'))
    assert.match(compose, /^ {2}master_key: \{ file: /mu)
    assert.doesNotMatch(compose + example, new RegExp(`^\\s*${prefix}MASTER_KEY(?:_PREVIOUS)?[:=]`, 'mu'))
  }
})

test('compose: every server has a read-only root, no capabilities, and no way to gain privileges', () => {
  for (const { compose } of FILES)
    for (const line of ['read_only: true', 'cap_drop: [ALL]', "security_opt: ['no-new-privileges:true']"])
      assert.ok(compose.includes(line), line)
})
