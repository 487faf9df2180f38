import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkTableOwners } from './table-owner-check.ts'

const SCHEMA = {
  path: 'schema.txt',
  text: 'table letter\n  letter_id text\n\ntable stamp\n  price integer\n',
}
const NO_EXCEPTIONS = { unwritten: {}, computed: {} }
const STAMPS = { path: 'stamp-store.ts', text: 'await tx`insert into stamp values (${price})`' }
const LETTERS = {
  path: 'letter-store.ts',
  text: 'await tx`insert into letter values (${id})`\nawait tx`delete from letter where letter_id = ${id}`',
}

const findings = (files: readonly { path: string; text: string }[], exceptions = NO_EXCEPTIONS) =>
  checkTableOwners(SCHEMA, files, exceptions).findings.map(
    ({ path, line, message }) => `${path}:${line} ${message}`,
  )

test('the only file that writes a table is its owner', () => {
  const { owners, findings: none } = checkTableOwners(SCHEMA, [LETTERS, STAMPS], NO_EXCEPTIONS)
  assert.deepEqual(none, [])
  assert.deepEqual(
    [...owners],
    [
      ['letter', 'letter-store.ts'],
      ['stamp', 'stamp-store.ts'],
    ],
  )
})

test('a write by another file is reported with file, line, table and owner', () => {
  const write = (text: string) => findings([LETTERS, STAMPS, { path: 'read.ts', text: `\n${text}` }])
  const refused = ['read.ts:2 writes letter, which letter-store.ts owns: call a function of that file']
  assert.deepEqual(write('await tx`update letter set read = true`'), refused)
  assert.deepEqual(write('await tx`delete from only letter`'), refused)
  assert.deepEqual(write('await tx.unsafe(`INSERT  INTO letter select 1`)'), refused)
  assert.deepEqual(write("await tx.unsafe('truncate letter')"), refused)
  assert.deepEqual(write("const ROWS = copyTarget<Row>('letter', {})"), refused)
  assert.deepEqual(write("const SEALED = wrappedColumn('letter', {})"), refused)
  assert.deepEqual(write("await tx`delete from ${partitionOf('letter', name)}`"), refused)
  assert.deepEqual(write('const part = fragment`with a as (${fragment`delete from letter`})`'), refused)
})

test('reads, locks, comments and prose are no writes', () => {
  const text = `
// update letter
const sentence = 'To update, delete from the list.'
await tx\`select from letter for no key update of letter skip locked\`
await tx\`lock table letter in share mode\``
  assert.deepEqual(findings([LETTERS, STAMPS, { path: 'read.ts', text }]), [])
})

test('a write of a table that the schema lacks is reported', () => {
  const text = 'await tx`insert into parcel values (1)`'
  assert.deepEqual(findings([LETTERS, STAMPS, { path: 'parcel-store.ts', text }]), [
    'parcel-store.ts:1 writes parcel, which schema.txt does not have: run npm run generate -- schema',
  ])
})

test('a table that nothing writes has no owner, unless the list says why', () => {
  assert.deepEqual(findings([LETTERS]), ['schema.txt:4 stamp has no owner: no file writes it'])
  const listed = { unwritten: { stamp: 'a migration writes it' }, computed: {} }
  assert.deepEqual(findings([LETTERS], listed), [])
  assert.deepEqual(findings([LETTERS, STAMPS], listed), [
    'schema.txt:4 stamp is listed as never written, but stamp-store.ts writes it',
  ])
})

test('a computed name is reported, unless the file is listed', () => {
  const move = { path: 'move-rows.ts', text: 'await tx.unsafe(`insert into ${to} select 1`)' }
  assert.deepEqual(findings([LETTERS, STAMPS, move]), [
    "move-rows.ts:1 writes a computed name: use partitionOf('table', name)",
  ])
  const listed = { unwritten: {}, computed: { 'move-rows.ts': 'moves rows between partitions' } }
  assert.deepEqual(findings([LETTERS, STAMPS, move], listed), [])
})
