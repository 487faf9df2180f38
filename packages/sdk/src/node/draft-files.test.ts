import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { testDraftStore } from '../drafts/draft-store-contract.fixture.ts'
import { openDraftFiles } from './draft-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-drafts-'))
after(() => rmSync(folder, { recursive: true }))
let folders = 0

testDraftStore('files', () => openDraftFiles(join(folder, `drafts-${(folders += 1)}`)))
