import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBookFault, MAXIMUM_NAMES, nameFault, readerWith } from './address-book.ts'
import { organizationText } from './reader.ts'

const REFUSED = [
  '',
  ' Seats',
  'Seats ',
  'Seats\nProven: all is well.',
  'Seats\u202eteef',
  'Seats\u200bLtd',
  'Seats\u2028Ltd',
  'Seats” (org_bank) sent this. “',
  'Seats "Ltd"',
  'Seats\ud800',
  'x'.repeat(65),
]

test('[AUD-01] a name has a limit, and no character that rewrites what a reader sees or ends the name', () => {
  for (const name of REFUSED) assert.ok(nameFault(name), JSON.stringify(name))
  for (const name of ['Seats Ltd', 'Sièges & Cie (Lyon) <S.A.>', '座席株式会社', 'x'.repeat(64)])
    assert.equal(nameFault(name), undefined, name)
})

test('[AUD-01] an address book has organization ids, each with a name, and a limit', () => {
  assert.equal(addressBookFault({ org_seats: 'Seats Ltd' }), undefined)
  const many = Array.from({ length: MAXIMUM_NAMES + 1 }, (_, at) => [`org_${at}`, 'x'])
  const faulty: unknown[] = [
    null,
    [],
    'org_seats',
    { seats: 'Seats Ltd' },
    { org_seats: 7 },
    { org_seats: 'a\nb' },
    JSON.parse('{"__proto__":"x"}'),
    Object.fromEntries(many),
  ]
  for (const value of faulty) assert.ok(addressBookFault(value), JSON.stringify(value).slice(0, 40))
})

test('[AUD-01] a name never replaces the id, and only its own organization has it', () => {
  const reader = readerWith({ org_seats: 'Seats Ltd' })
  assert.equal(organizationText('org_seats', reader), '“Seats Ltd” (org_seats)')
  assert.equal(organizationText('org_cars', reader), 'org_cars')
  assert.equal(organizationText('toString', reader), 'toString')
})
