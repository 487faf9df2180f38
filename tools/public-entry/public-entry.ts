/** `npm run check -- --only public-entry`: what users of the SDK rely on changes only on purpose. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkNames, checkUse, LIST, readEntries, type PublicNames } from './public-entry-check.ts'
import { reportFindings } from '../repository/findings.ts'
import { readFiles, ROOT } from '../repository/repository-files.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const found = readEntries(read)
const forUsers = readFiles(
  (path) =>
    /^examples\/.+\.ts$/u.test(path) || /^(?:docs\/[^/]+|(?:packages\/[^/]+\/)?README)\.md$/u.test(path),
)
reportFindings(
  [
    ...checkNames(found, JSON.parse(read(LIST)) as PublicNames),
    ...forUsers.flatMap((file) => checkUse(file, found)),
  ],
  `the public entries of the SDK are as listed; ${forUsers.length} examples and documents use nothing else of it`,
)
