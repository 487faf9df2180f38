import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTimeline, type TimelineOptions } from './timeline.ts'

function printed(options: Partial<TimelineOptions>): string[] {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const timeline = createTimeline({ now: () => 0, print, colour: false, ...options })
  timeline.chapter('Challenged')
  timeline.say({
    who: 'supplier',
    said: 'We can follow in part, and the rest has to wait until the press has been repaired.',
    seen: `812 characters of ciphertext: ${'A'.repeat(200)}`,
  })
  timeline.add({
    who: 'exchange',
    to: 'supplier',
    kind: 'event',
    what: 'package.accepted #1',
    detail: 'pkg_e18189…  state accepted  signature verified, stored, in order',
  })
  return lines
}

test('on a terminal no line is longer than its columns, and nothing is cut', () => {
  for (const columns of [80, 70]) {
    const lines = printed({ columns })
    for (const line of lines) assert.ok(line.length <= columns, line)
    const text = lines.map((line) => line.trim()).join(' ')
    assert.match(text, /Seat supplier says {2}“We can follow in part.* until the press has been repaired\.”/)
    assert.equal(text.replaceAll(' ', '').match(/A{200}/g)?.length, 1)
    assert.match(text, /package\.accepted #1 .*stored, in order/)
  }
})

test('elsewhere each entry is one line', () => {
  const lines = printed({})
  assert.deepEqual(lines.length, 5)
  assert.match(lines.at(-1) ?? '', /package\.accepted #1 {2}pkg_e18189… state accepted signature verified/)
})
