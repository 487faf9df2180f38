import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects, type ProtocolObject } from '@agent-exchange/protocol'
import { leadOf } from '@agent-exchange/sdk/internal'
import { objectLines } from './object-text.ts'

const WIDTH = 80

test('every kind of object is shown for people: its lead once, in 80 columns, without names for programs', () => {
  for (const object of Object.values(exampleObjects) as ProtocolObject[]) {
    const lines = objectLines(object)
    for (const line of lines.filter((each) => each.trim().includes(' ')))
      assert.ok(line.length <= WIDTH, `${object.object_type}: ${line}`)
    const text = lines.join(' ').replaceAll(/\s+/gu, ' ')
    assert.equal(text.split(leadOf(object)).length, 2, `${object.object_type}: ${text}`)
    assert.doesNotMatch(text, /protocol_version|"|\{/u)
  }
})

test('lists, empty values and nested objects are indented, and nothing reaches the terminal as a command', () => {
  const object = {
    ...exampleObjects.reasoning_package,
    reasoning: {
      summary: 'First line.\nSecond \u001b[31mline.',
      drivers: ['one', 'two'],
      known_unknowns: [],
    },
    facts: [
      { fact_id: 'fact_1', statement: 'A press is down.', sensitivity: 'internal', evidence_refs: ['ev_1'] },
    ],
  } as unknown as ProtocolObject
  const shown = objectLines(object).join('\n')
  assert.match(shown, /^Reasoning package\n  First line\.\n  Second \\u001b\[31mline\.\n/u)
  assert.match(shown, /\n  Reasoning\n    Drivers\n      - one\n      - two\n    Known unknowns: none\n/u)
  assert.match(
    shown,
    /\n  Facts\n    - Statement: A press is down\.\n      Sensitivity: internal\n      Fact id: fact_1\n      Evidence refs\n        - ev_1\n/u,
  )
})
