import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asText, nodeList, nodesOf, numberOf, textOf, valuesOf } from './json-ld-reader.ts'
import { problemText } from './problem-text.ts'
import { termsOf } from './policy-terms.ts'
import { spelledOut } from './spelled-out.ts'
import { EDC, fullName, localName, ODRL } from './vocabulary.ts'

test('a value is found however its key and itself are written', () => {
  const keys = fc.constantFrom('state', 'edc:state', `${EDC}state`)
  fc.assert(
    fc.property(keys, fc.string(), fc.nat(3), (key, text, form) => {
      const value = [text, { '@value': text }, [{ '@value': text }], { '@id': text }][form]
      assert.equal(textOf({ other: 'x', [key]: value }, 'state'), text)
    }),
  )
})

test('whatever comes, reading it does not throw', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('state', 'permission', '@id', '@list', 'errors'), fc.jsonValue()),
      (node) => {
        textOf(node, 'state')
        numberOf(node, 'state')
        termsOf(node)
        nodeList(node)
        problemText(Buffer.from(JSON.stringify(node)))
      },
    ),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void problemText(bytes)))
})

test('lists and single values are one', () => {
  assert.deepEqual(nodesOf({ 'dcat:dataset': { '@id': 'a' } }, 'dataset'), [{ '@id': 'a' }])
  assert.deepEqual(
    nodesOf({ 'http://www.w3.org/ns/dcat#dataset': [{ '@id': 'a' }, { '@id': 'b' }] }, 'dataset').length,
    2,
  )
  assert.deepEqual(valuesOf({ x: { '@list': ['1', '2'] } }, 'x'), ['1', '2'])
  assert.deepEqual(valuesOf({ x: null }, 'x'), [])
  assert.equal(asText({ '@value': 7 }), '7')
  assert.equal(numberOf({ createdAt: '12' }, 'createdAt'), 12)
  assert.equal(numberOf({ createdAt: 'x' }, 'createdAt'), undefined)
  assert.equal(localName('unknown:thing'), 'unknown:thing')
  const full = ['odrl:use', 'use', `${ODRL}use`].map((name) => fullName(name, ODRL))
  assert.deepEqual(full, [`${ODRL}use`, `${ODRL}use`, `${ODRL}use`])
  assert.equal(fullName('urn:x', ODRL), 'urn:x')
})

test('terms are the same from compact and from expanded offers', () => {
  const compact = {
    'odrl:permission': {
      'odrl:action': { '@id': 'odrl:use' },
      'odrl:constraint': { 'odrl:and': [condition('odrl:', 'a'), condition('odrl:', 'b')] },
    },
    'odrl:prohibition': [],
    'odrl:obligation': [],
  }
  const expanded = {
    [`${ODRL}permission`]: [
      {
        [`${ODRL}action`]: [{ '@id': `${ODRL}use` }],
        [`${ODRL}constraint`]: [
          { [`${ODRL}and`]: [{ '@list': [condition(ODRL, 'a'), condition(ODRL, 'b')] }] },
        ],
      },
    ],
  }
  assert.deepEqual(termsOf(compact), termsOf(expanded))
  assert.deepEqual(termsOf(compact).permittedActions, ['use'])
  assert.deepEqual(
    termsOf(compact).conditions.map(({ value }) => value),
    ['a', 'b'],
  )
  const bound = {
    'odrl:permission': [{ 'odrl:duty': [{}] }],
    'odrl:obligation': [{}],
    'odrl:prohibition': {},
  }
  assert.deepEqual([termsOf(bound).obligations, termsOf(bound).prohibitions], [2, 1])
})

function condition(prefix: string, value: string) {
  return {
    [`${prefix}leftOperand`]: { '@id': 'https://example.org/x' },
    [`${prefix}operator`]: { '@id': `${prefix}eq` },
    [`${prefix}rightOperand`]: { '@value': value },
  }
}

test('refusals are read through their wrapping', () => {
  const inner = JSON.stringify({
    '@type': 'dspace:CatalogError',
    'dspace:code': '404',
    'dspace:reason': 'Dataset x does not exist',
  })
  assert.equal(problemText(Buffer.from(JSON.stringify([{ message: inner }]))), '404 Dataset x does not exist')
  assert.equal(problemText(Buffer.from('{"errors":["410 - Gone."]}')), '410 - Gone.')
  assert.equal(problemText(Buffer.from('<html>Jetty</html>')), undefined)
  assert.equal(problemText(Buffer.from('{not json')), '{not json')
  assert.equal(problemText(Buffer.from('')), undefined)
})

test('an offer is sent back to the letter, unless its context would have to be fetched', () => {
  const inline = { odrl: ODRL }
  const offer = {
    '@id': 'o',
    '@type': 'odrl:Offer',
    'odrl:permission': { 'odrl:action': { '@id': 'odrl:use' } },
  }
  assert.deepEqual(spelledOut(offer, inline), { '@context': inline, ...offer })
  const short = {
    '@id': 'o',
    '@type': 'Offer',
    permission: [
      {
        action: 'use',
        constraint: [
          { leftOperand: 'https://w3id.org/tractusx/v0.0.1/ns/B', operator: 'eq', rightOperand: 'c' },
        ],
      },
    ],
  }
  const full = {
    '@id': 'o',
    '@type': `${ODRL}Offer`,
    [`${ODRL}permission`]: [
      {
        [`${ODRL}action`]: { '@id': `${ODRL}use` },
        [`${ODRL}constraint`]: [
          {
            [`${ODRL}leftOperand`]: { '@id': 'https://w3id.org/tractusx/v0.0.1/ns/B' },
            [`${ODRL}operator`]: { '@id': `${ODRL}eq` },
            [`${ODRL}rightOperand`]: 'c',
          },
        ],
      },
    ],
  }
  assert.deepEqual(spelledOut(short, ['https://w3id.org/dspace/2025/1/context.jsonld']), full)
  assert.deepEqual(termsOf(full), termsOf(short))
})
