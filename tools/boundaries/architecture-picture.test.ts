import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PACKAGE_IMPORTS } from './boundary-rules.ts'

const PAGE = new URL('../../docs/architecture.md', import.meta.url)

test('the picture of the architecture shows the table of permitted imports, without arrows that a longer path implies', () => {
  const [, picture = ''] = /```mermaid\n([^]*?)```/u.exec(readFileSync(PAGE, 'utf8')) ?? []
  assert.deepEqual(arrowsOf(picture).toSorted(), neededArrows().toSorted())
})

/** `a → b`: package a is used by package b. */
function neededArrows(): string[] {
  return Object.entries(PACKAGE_IMPORTS).flatMap(([user, used]) => {
    const implied = new Set(used.flatMap((each) => [...allUsedBy(each)]))
    return used.filter((each) => !implied.has(each)).map((each) => `${each} → ${user}`)
  })
}

function allUsedBy(name: string): Set<string> {
  const direct = PACKAGE_IMPORTS[name] ?? []
  return new Set(direct.flatMap((each) => [each, ...allUsedBy(each)]))
}

function arrowsOf(picture: string): string[] {
  const names = new Map(
    [...picture.matchAll(/(\w+)\["([\w-]+)/gu)].map(([, id = '', name = '']) => [id, name]),
  )
  const arrows = picture.matchAll(/^\s*(\w+)(?:\[.*?\])? (?:-->|-\..*->) (\w+)/gmu)
  return [...arrows].map(([, from = '', to = '']) => `${names.get(from)} → ${names.get(to)}`)
}
