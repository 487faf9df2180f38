import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Pages whose sentences are all in the folder texts. */
const PAGES = [
  'answer-*',
  'answered-*',
  'composition',
  'conversation-*',
  'evidence-*',
  'folder-desk-host',
  'form-*',
  'new-*',
  'search-*',
  'story-*',
  'check-table',
  'decide',
  'desk-pages',
  'draft-*',
  'drafts-page',
  'due-table',
  'object-view',
  'overview-page',
  'package-*',
  'passkey-decision-part',
  'sent-draft-page',
  'start-page',
  'waiting-list',
]
/** Text between two tags of a template, or a title in quotation marks: two words or more. */
const SENTENCE = />\s*([A-Z][a-z]+ [a-z][^<$`]*)</u
const TITLE = /(?:title|label|text|hint): '([^']* [^']*)'/u

test('pages hold no sentence of their own, so that a second language needs one folder', () => {
  const files = PAGES.flatMap((name) => globSync(`${name}.ts`, { cwd: import.meta.dirname }))
  assert.ok(files.length > 35, `${files.length} files`)
  for (const file of files.filter((name) => !name.includes('.test.'))) {
    const source = readFileSync(`${import.meta.dirname}/${file}`, 'utf8')
    assert.equal(SENTENCE.exec(source)?.[1], undefined, file)
    assert.equal(TITLE.exec(source)?.[1], undefined, file)
  }
})
